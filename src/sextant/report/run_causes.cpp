// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/recording.hpp"
#include "sextant/report/run_comparison.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace sextant::report {

namespace {

/// Returns the events except waits, ordered by rank and then by end.
std::vector<std::size_t> by_rank_and_end(const Trace& trace) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < trace.events.size(); ++i) {
        if (trace.events[i].activity != Activity::wait)
            places.push_back(i);
    }
    const auto key = [&](std::size_t i) {
        const Event& e = trace.events[i];
        return std::tuple(e.rank, e.end, e.begin, e.step);
    };
    std::sort(places.begin(), places.end(),
              [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    return places;
}

/// Traces the critical path backwards from its end.
class WayBack {
  public:
    explicit WayBack(const Recording& recording)
        : trace_(recording.trace),
          lent_(recording.lent),
          sides_(other_sides(trace_)),
          order_(by_rank_and_end(trace_)) {}

    CriticalPath take() {
        if (order_.empty())
            return {};
        std::size_t at = last();
        path_.points.push_back({order_event(at).rank, order_event(at).end});
        // No event is visited twice, so the loop terminates even if events have zero length.
        for (std::size_t steps = 0; steps < order_.size(); ++steps) {
            const auto [rank, time] = begin_of(order_[at]);
            const std::size_t before = last_ended(rank, time, at);
            if (before == none) {
                path_.between += time;
                break;
            }
            path_.between += time - order_event(before).end;
            if (order_event(before).end < time)
                path_.points.push_back({rank, order_event(before).end});
            at = before;
        }
        std::reverse(path_.points.begin(), path_.points.end());
        return std::move(path_);
    }

  private:
    static constexpr auto none = static_cast<std::size_t>(-1);

    const Event& order_event(std::size_t at) const { return trace_.events[order_[at]]; }

    std::size_t last() const {
        const auto latest =
            std::max_element(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
                return trace_.events[a].end < trace_.events[b].end;
            });
        return static_cast<std::size_t>(latest - order_.begin());
    }

    /// Returns the point of the critical path at which an event began: on its own rank or, if the
    /// other side of its message was late, on the rank of the other side.
    CriticalPath::Point begin_of(std::size_t place) {
        const Event& event = trace_.events[place];
        const Event& other = trace_.events[sides_[place]];
        if (lent_ && event.activity == Activity::send && other.end < event.end)
            return given_back(other.rank, event.end);
        const bool waited = other.begin > event.begin && other.begin <= event.end;
        const Event& late = waited ? other : event;
        (is_message(event.activity) ? path_.messages : path_.work) += event.end - late.begin;
        if (late.rank != event.rank)
            ++path_.changes;
        path_.points.push_back({late.rank, late.begin});
        return {late.rank, late.begin};
    }

    CriticalPath::Point given_back(int rank, Seconds time) {
        ++path_.changes;
        path_.points.push_back({rank, time});
        return {rank, time};
    }

    /// Returns the index in order_ of the last event of a rank that ended by `time`. If the event
    /// at index `than` is of the same rank, the result is below `than`.
    std::size_t last_ended(int rank, Seconds time, std::size_t than) const {
        const auto after = std::partition_point(order_.begin(), order_.end(), [&](std::size_t i) {
            const Event& e = trace_.events[i];
            return std::tie(e.rank, e.end) <= std::tie(rank, time);
        });
        auto found = static_cast<std::size_t>(after - order_.begin());
        if (order_event(than).rank == rank)
            found = std::min(found, than);
        return found > 0 && order_event(found - 1).rank == rank ? found - 1 : none;
    }

    const Trace& trace_;
    const bool lent_;
    const std::vector<std::size_t> sides_, order_;
    CriticalPath path_;
};

/// Returns the message that ended a wait: the last message of the same rank that ended during the
/// wait.
const Event* end_of(const Event& wait, const Trace& trace,
                    const std::vector<std::size_t>& messages) {
    const auto after = std::partition_point(messages.begin(), messages.end(), [&](std::size_t i) {
        const Event& e = trace.events[i];
        return std::tie(e.rank, e.end) <= std::tie(wait.rank, wait.end);
    });
    if (after == messages.begin())
        return nullptr;
    const Event& message = trace.events[*(after - 1)];
    return message.rank == wait.rank && message.end > wait.begin ? &message : nullptr;
}

} // namespace

CriticalPath critical_path(const Recording& recording) {
    return WayBack(recording).take();
}

std::vector<Waiting> waiting(const Trace& trace) {
    std::vector<std::size_t> messages = by_rank_and_end(trace);
    std::erase_if(messages, [&](std::size_t i) { return !is_message(trace.events[i].activity); });
    std::map<std::pair<int, int>, Seconds> sums;
    for (const Event& event : trace.events) {
        if (event.activity != Activity::wait || event.end <= event.begin)
            continue;
        const Event* message = end_of(event, trace, messages);
        sums[{event.rank, message ? message->peer : -1}] += event.end - event.begin;
    }
    std::vector<Waiting> all;
    for (const auto& [pair, seconds] : sums)
        all.push_back({pair.first, pair.second, seconds});
    std::stable_sort(all.begin(), all.end(),
                     [](const Waiting& a, const Waiting& b) { return a.seconds > b.seconds; });
    return all;
}

namespace {

constexpr std::size_t most_waits = 8;

std::string share(Seconds part, Seconds whole) {
    if (whole <= 0)
        return to_text(part);
    return fmt::format("{} ({:.0f} %)", to_text(part), 100 * part / whole);
}

/// Returns the longest time by which a message seems to arrive before it was sent. This is a lower
/// bound for the error of the clocks.
Seconds disagreement(const Trace& trace) {
    Seconds most = 0;
    for (const Message& message : messages_of(trace))
        most = std::max(most, trace.events[message.send].begin - trace.events[message.receive].end);
    return most;
}

std::string paths(std::span<const Recording> recordings) {
    Table table{{{"Critical path", ""},
                 "Length",
                 "Work",
                 "Messages",
                 "Gaps between events",
                 "Changes of rank"}};
    for (const Recording& recording : recordings) {
        const CriticalPath path = critical_path(recording);
        const Seconds length = path.work + path.messages + path.between;
        table.rows.push_back({escape(recording.title()), to_text(length), share(path.work, length),
                              share(path.messages, length), share(path.between, length),
                              grouped(path.changes)});
    }
    return to_html(table);
}

std::string waits(const Recording& recording) {
    const std::vector<Waiting> all = waiting(recording.trace);
    if (all.empty())
        return "";
    Table table{{{"Rank", ""}, "Peer of the message", "Total"}};
    for (std::size_t i = 0; i < std::min(all.size(), most_waits); ++i)
        table.rows.push_back({fmt::format("rank {}", all[i].rank),
                              all[i].peer < 0 ? "none" : fmt::format("rank {}", all[i].peer),
                              to_text(all[i].seconds)});
    std::string html = fmt::format("<h3>Waiting time by pair of ranks: {}</h3>\n{}",
                                   escape(recording.title()), to_html(table));
    if (all.size() > most_waits) {
        Seconds rest = 0;
        for (std::size_t i = most_waits; i < all.size(); ++i)
            rest += all[i].seconds;
        html += fmt::format("<p>{} more pairs of ranks, {} in total.</p>\n",
                            all.size() - most_waits, to_text(rest));
    }
    return html;
}

std::string doubts(const Recording& recording) {
    const Seconds by = disagreement(recording.trace);
    if (by <= 0)
        return "";
    return fmt::format(
        "<p>{}: some messages seem to arrive before they were sent, so the clocks differ by {} or "
        "more; the path and the waits have at least this error.</p>\n",
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
    return {"Causes of the run time", html};
}

} // namespace sextant::report
