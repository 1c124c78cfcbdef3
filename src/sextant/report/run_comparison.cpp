// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/run_comparison.hpp"

#include "sextant/report/assets.hpp"
#include "sextant/report/recording.hpp"
#include "sextant/report/text.hpp"
#include "sextant/report/trace_timeline.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

namespace sextant::report {

namespace {

constexpr std::size_t most_bars = 200'000, most_messages = 100'000;

/// Converts times to integer ticks, which need few characters.
class Ticks {
  public:
    explicit Ticks(std::span<const Recording> recordings) {
        Seconds longest = 0;
        for (const Recording& recording : recordings) {
            longest = std::max(longest, recording.trace.duration);
            for (const Event& event : recording.trace.events)
                longest = std::max(longest, event.end);
        }
        tick_ = longest < 1e-4 ? 1e-12 : longest < 100 ? 1e-9 : 1e-6;
    }
    Seconds seconds() const { return tick_; }
    std::int64_t operator()(Seconds time) const { return std::llround(time / tick_); }

  private:
    Seconds tick_;
};

/// Appends `, "name":[1,2,3]`.
template <class Bars, class Value>
void add_column(std::string& json, std::string_view name, const Bars& bars, Value&& value) {
    fmt::format_to(std::back_inserter(json), ",\"{}\":[", name);
    const char* comma = "";
    for (const auto& bar : bars) {
        fmt::format_to(std::back_inserter(json), "{}{}", comma, value(bar));
        comma = ",";
    }
    json += ']';
}

void add_bars(std::string& json, const std::vector<Bar>& bars, const Ticks& ticks) {
    add_column(json, "rank", bars, [](const Bar& bar) { return bar.event.rank; });
    add_column(json, "kind", bars,
               [](const Bar& bar) { return static_cast<int>(bar.event.activity); });
    add_column(json, "begin", bars, [&](const Bar& bar) { return ticks(bar.event.begin); });
    add_column(json, "length", bars,
               [&](const Bar& bar) { return ticks(bar.event.end) - ticks(bar.event.begin); });
    add_column(json, "row", bars, [](const Bar& bar) { return bar.row; });
    add_column(json, "events", bars, [](const Bar& bar) { return bar.events; });
    add_column(json, "step", bars, [](const Bar& bar) { return bar.event.step; });
    add_column(json, "round", bars, [](const Bar& bar) { return bar.event.round; });
    add_column(json, "peer", bars, [](const Bar& bar) { return bar.event.peer; });
    add_column(json, "elements", bars, [](const Bar& bar) { return bar.event.elements; });
}

/// Adds arrows from the start of each send to the arrival of the message. If clocks disagree, a
/// message may seem to arrive before it was sent; its arrow then points backwards.
void add_arrows(std::string& json, const Trace& trace, const SharedLanes& lanes,
                const Ticks& ticks) {
    std::vector<std::int64_t> numbers;
    const std::vector<Message> messages = messages_of(trace);
    for (const Message& message : messages) {
        if (messages.size() > most_messages)
            break;
        const Event &send = trace.events[message.send], &receive = trace.events[message.receive];
        for (const std::int64_t number :
             {std::int64_t{lanes.lane_of(send.rank)}, ticks(send.begin),
              std::int64_t{lanes.lane_of(receive.rank)}, ticks(receive.end)})
            numbers.push_back(number);
    }
    add_column(json, "arrows", numbers, [](std::int64_t number) { return number; });
}

void add_path(std::string& json, const Recording& recording, const SharedLanes& lanes,
              const Ticks& ticks) {
    std::vector<std::int64_t> numbers;
    for (const CriticalPath::Point& point : critical_path(recording).points) {
        numbers.push_back(lanes.lane_of(point.rank));
        numbers.push_back(ticks(point.time));
    }
    add_column(json, "path", numbers, [](std::int64_t number) { return number; });
}

std::string json_of(const Recording& recording, const Bars& bars, const Ticks& ticks) {
    const SharedLanes lanes(recording.ranks);
    std::string json = fmt::format(
        "{{\"name\":{},\"ranks\":{},\"lanes\":{},\"shared\":{},\"rows\":{},\"duration\":{}",
        json_text(recording.title()), recording.ranks, lanes.lanes, lanes.ranks_per_lane, bars.rows,
        ticks(bars.duration));
    std::vector<Bar> all = bars.messages;
    all.insert(all.end(), bars.work.begin(), bars.work.end());
    add_bars(json, all, ticks);
    add_arrows(json, recording.trace, lanes, ticks);
    add_path(json, recording, lanes, ticks);
    return json + "}";
}

std::string style() {
    std::string light, dark;
    const auto add = [&](std::string_view name, const Colour& colour) {
        light += fmt::format("--{}:{};", name, colour.light);
        dark += fmt::format("--{}:{};", name, colour.dark);
    };
    for (const Activity activity : activities)
        add(name(activity), colour_of(activity));
    add("arrow", {"#7c8794", "#8b96a3"});
    add("path", {"#d01c4a", "#ff6b8b"});
    return fmt::format("<style>.timeline{{{}}}@media screen and (prefers-color-scheme:dark){{"
                       ".timeline{{{}}}}}</style>\n",
                       light, dark);
}

std::string keys() {
    std::string html = "<div class=\"keys\">";
    const auto add = [&](std::string_view name, std::string_view label) {
        html += fmt::format("<span><span class=\"key\" style=\"background:var(--{})\"></span>{}"
                            "</span>",
                            name, label);
    };
    for (const Activity activity : activities)
        add(name(activity), name(activity));
    add("path", "critical path");
    return html + "</div>\n";
}

std::string controls(std::size_t runs) {
    struct Button {
        std::string_view does, label, shows;
    };
    constexpr Button buttons[] = {{"in", "Zoom in", "+"},
                                  {"out", "Zoom out", "−"},
                                  {"left", "Earlier", "←"},
                                  {"right", "Later", "→"},
                                  {"all", "The whole run", "all"}};
    std::string html = "<div class=\"controls\"><span class=\"buttons\">";
    for (const Button& button : buttons) {
        html += fmt::format("<button type=\"button\" data-do=\"{}\" aria-label=\"{}\">{}</button>",
                            button.does, button.label, button.shows);
    }
    html += "</span><label><input type=\"checkbox\" data-show=\"arrows\" checked=\"checked\"/>"
            "messages as arrows</label><label><input type=\"checkbox\" data-show=\"path\" "
            "checked=\"checked\"/>critical path</label>";
    if (runs > 1)
        html += "<label><input type=\"checkbox\" data-show=\"apart\"/>each run separately</label>";
    return html + "</div>\n";
}

/// Lists the runs with the numbers that lanes refer to, and states which parts of each run are
/// omitted.
std::string listed(std::span<const Recording> recordings, const std::vector<Bars>& bars) {
    std::string html = "<ol class=\"runs\">\n";
    for (std::size_t i = 0; i < recordings.size(); ++i) {
        const Recording& recording = recordings[i];
        html += fmt::format("<li>{}: {} on {}", escape(recording.title()),
                            to_text(bars[i].duration), counted(recording.ranks, "rank"));
        if (const SharedLanes lanes(recording.ranks); lanes.shared())
            html += fmt::format(", {} of which share each lane; simultaneous events are one bar",
                                lanes.ranks_per_lane);
        const auto events = static_cast<std::int64_t>(recording.trace.events.size());
        if (bars[i].pause > 0) {
            html += fmt::format(
                ". Aggregated: {} in {}; pauses of up to {} between events of the same kind are "
                "not shown",
                counted(events, "event"),
                counted(static_cast<std::int64_t>(bars[i].messages.size() + bars[i].work.size()),
                        "bar"),
                to_text(bars[i].pause));
        }
        if (messages_of(recording.trace).size() > most_messages)
            html += ". The run has too many messages to draw arrows";
        if (recording.clocks > 1)
            html += ". " + clocks_text(recording.clocks, recording.aligned);
        html += ".</li>\n";
    }
    return html + "</ol>\n";
}

} // namespace

Section timeline_section(std::span<const Recording> recordings) {
    if (recordings.empty())
        return {};
    const Ticks ticks(recordings);
    std::vector<Bars> all;
    std::string json = fmt::format("{{\"tick\":{},\"runs\":[", ticks.seconds());
    for (const Recording& recording : recordings) {
        all.push_back(
            bars(recording.trace, SharedLanes(recording.ranks), most_bars / recordings.size()));
        json += all.size() > 1 ? "," : "";
        json += json_of(recording, all.back(), ticks);
    }
    json += "]}";
    return {
        "Timeline of each rank",
        listed(recordings, all) + style() + "<figure class=\"timeline\">\n" +
            controls(recordings.size()) + keys() +
            "<div class=\"lanes\" tabindex=\"0\" role=\"group\" aria-label=\"Timelines; plus, "
            "minus, 0 and arrow keys zoom and move\"><canvas></canvas><div "
            "class=\"space\"></div></div>\n<output>Above the line of a lane: messages in transit. "
            "Below: work, and idle waiting. Zoom with Ctrl and wheel, two fingers or the buttons; "
            "drag to move; point at a bar to read it.</output>\n<noscript><p>The timelines are "
            "drawn by a script of this page.</p></noscript>\n<script type=\"application/json\">" +
            json + "</script>\n</figure>\n",
        assets::timeline_js};
}

namespace {

Fact fact_of(const Recording& recording) {
    std::int64_t messages = 0;
    Elements moved = 0;
    for (const Event& event : recording.trace.events) {
        if (event.activity != Activity::send)
            continue;
        ++messages;
        moved += event.elements;
    }
    const std::string size = recording.element_size > 0
                                 ? bytes_to_text(static_cast<double>(moved) *
                                                 static_cast<double>(recording.element_size))
                                 : counted(moved, "element");
    return {recording.title(),
            fmt::format("{} on {}; {} of {} in total", to_text(recording.trace.duration),
                        counted(recording.ranks, "rank"), counted(messages, "message"), size)};
}

} // namespace

Page comparison(std::string title, std::span<const Recording> recordings) {
    Page page;
    page.title = std::move(title);
    for (const Recording& recording : recordings)
        page.facts.push_back(fact_of(recording));
    page.sections = {timeline_section(recordings), causes_section(recordings)};
    for (const Recording& recording : recordings)
        page.sections.push_back(traffic_section(recording));
    return page;
}

} // namespace sextant::report
