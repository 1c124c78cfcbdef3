// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/causes_section.hpp"

#include "sextant/report/critical_path.hpp"
#include "sextant/report/messages.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace sextant::report {

namespace {

constexpr std::size_t most_waits = 8;

std::string head(std::initializer_list<std::string_view> names) {
    std::string html = "<div class=\"scroll\"><table>\n<thead><tr>";
    for (std::string_view name : names) {
        html += fmt::format("<th scope=\"col\"{}>{}</th>",
                            name == *names.begin() ? "" : " class=\"number\"", name);
    }
    return html + "</tr></thead>\n<tbody>\n";
}

std::string share(Seconds part, Seconds whole) {
    if (whole <= 0)
        return to_text(part);
    return fmt::format("{} ({:.0f} %)", to_text(part), 100 * part / whole);
}

/// How much sooner than it was sent a message was seen to arrive, at most: clocks differ by as
/// much.
Seconds disagreement(const Trace& trace) {
    Seconds most = 0;
    for (const Message& message : messages_of(trace))
        most = std::max(most, trace.events[message.send].begin - trace.events[message.receive].end);
    return most;
}

std::string paths(std::span<const Recording> recordings) {
    std::string html =
        head({"Critical path", "Length", "Work", "Messages", "Between events", "Changes of rank"});
    for (const Recording& recording : recordings) {
        const CriticalPath path = critical_path(recording);
        const Seconds length = path.work + path.messages + path.between;
        html += fmt::format("<tr><th scope=\"row\">{}</th>", escape(recording.title()));
        for (const std::string& cell :
             {to_text(length), share(path.work, length), share(path.messages, length),
              share(path.between, length), grouped(path.changes)})
            html += fmt::format("<td class=\"number\">{}</td>", cell);
        html += "</tr>\n";
    }
    return html + "</tbody>\n</table></div>\n";
}

std::string waits(const Recording& recording) {
    const std::vector<Waiting> all = waiting(recording.trace);
    if (all.empty())
        return "";
    std::string html = fmt::format("<h3>Who waited for whom: {}</h3>\n", escape(recording.title()));
    html += head({"Rank", "Until a message with", "Together"});
    for (std::size_t i = 0; i < std::min(all.size(), most_waits); ++i) {
        html += fmt::format(
            "<tr><th scope=\"row\">rank {}</th><td class=\"number\">{}</td><td class=\"number\">{}"
            "</td></tr>\n",
            all[i].rank, all[i].peer < 0 ? "none" : fmt::format("rank {}", all[i].peer),
            to_text(all[i].seconds));
    }
    html += "</tbody>\n</table></div>\n";
    if (all.size() > most_waits) {
        Seconds rest = 0;
        for (std::size_t i = most_waits; i < all.size(); ++i)
            rest += all[i].seconds;
        html +=
            fmt::format("<p>{} more, {} together.</p>\n", all.size() - most_waits, to_text(rest));
    }
    return html;
}

std::string doubts(const Recording& recording) {
    const Seconds by = disagreement(recording.trace);
    if (by <= 0)
        return "";
    return fmt::format("<p>{}: messages are seen to arrive before they were sent, so its clocks "
                       "differ by {} or more; path and waits are as good as that.</p>\n",
                       escape(recording.title()), to_text(by));
}

} // namespace

Section causes_section(std::span<const Recording> recordings) {
    const bool any =
        std::any_of(recordings.begin(), recordings.end(),
                    [](const Recording& recording) { return !recording.trace.events.empty(); });
    if (!any)
        return {};
    std::string html = paths(recordings);
    for (const Recording& recording : recordings)
        html += doubts(recording);
    for (const Recording& recording : recordings)
        html += waits(recording);
    return {"Why it took as long", html};
}

} // namespace sextant::report
