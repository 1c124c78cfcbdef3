// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/otf2.hpp"

#include "sextant/report/recording.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace sextant::report {

bool is_otf2(const std::string& path) {
    return path.ends_with(".otf2") || path.ends_with(".otf2/");
}

namespace {

constexpr Seconds longest = 100.0 * 24 * 3600; // fits in 63 bits as a number of ticks

void check(const Event& event, int ranks) {
    const auto is_rank = [&](int rank) { return rank >= 0 && rank < ranks; };
    const bool times = event.begin >= 0 && event.end >= event.begin && event.end <= longest;
    if (times && is_rank(event.rank) && (!is_message(event.activity) || is_rank(event.peer)))
        return;
    throw std::logic_error(fmt::format("rank {} of {}, step {}: {} with {} from {} s to {} s",
                                       event.rank, ranks, event.step, name(event.activity),
                                       event.peer, event.begin, event.end));
}

/// Returns the tags of messages. Those recorded on both sides come first, so that both sides have
/// the same tags; messages recorded on one side have tags that the other side does not have.
std::vector<std::uint32_t> tags_of(const Trace& trace) {
    std::vector<std::uint32_t> tags(trace.events.size());
    std::vector<bool> tagged(trace.events.size());
    std::map<std::pair<int, int>, std::uint32_t> next; // by sender and receiver
    for (const Message& message : messages_of(trace)) {
        const Event& send = trace.events[message.send];
        tags[message.send] = tags[message.receive] = next[{send.rank, send.peer}]++;
        tagged[message.send] = tagged[message.receive] = true;
    }
    for (std::size_t i = 0; i < trace.events.size(); ++i) {
        const Event& event = trace.events[i];
        if (is_message(event.activity) && !tagged[i])
            tags[i] = event.activity == Activity::send ? next[{event.rank, event.peer}]++
                                                       : next[{event.peer, event.rank}]++;
    }
    return tags;
}

/// Sorts by rank, then time, then index.
std::vector<std::size_t> in_order(const std::vector<Event>& events) {
    std::vector<std::size_t> order(events.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = i;
    const auto place = [&](std::size_t i) {
        return std::tuple(events[i].rank, events[i].begin, events[i].end, i);
    };
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
    return order;
}

/// Assigns events to locations.
class Dealer {
  public:
    Dealer(const Trace& trace, int ranks) : trace_(trace), tags_(tags_of(trace)) {
        for (int rank = 0; rank < ranks; ++rank)
            locations_.push_back({rank, {}});
        free_.resize(locations_.size());
    }

    void deal(std::size_t event) {
        const Event& what = trace_.events[event];
        const std::uint64_t begin = otf2_time(what.begin), end = otf2_time(what.end);
        auto where = static_cast<std::size_t>(what.rank);
        if (!is_message(what.activity)) {
            where = location_of(what.rank, begin);
            free_[where] = end;
        }
        std::vector<Otf2Record>& records = locations_[where].records;
        records.push_back({begin, event, true, tags_[event]});
        records.push_back({end, event, false, tags_[event]});
    }

    /// Sorts records by time. The sort is stable, because an event that ends when another begins
    /// was added before it.
    std::vector<Otf2Location> finish() {
        for (Otf2Location& location : locations_) {
            std::stable_sort(
                location.records.begin(), location.records.end(),
                [](const Otf2Record& a, const Otf2Record& b) { return a.time < b.time; });
        }
        return std::move(locations_);
    }

  private:
    /// Returns the rank's first location without work at that time.
    std::size_t location_of(int rank, std::uint64_t begin) {
        const auto own = static_cast<std::size_t>(rank);
        if (free_[own] <= begin)
            return own;
        std::vector<std::size_t>& beside = beside_[rank];
        for (const std::size_t location : beside) {
            if (free_[location] <= begin)
                return location;
        }
        beside.push_back(locations_.size());
        locations_.push_back({rank, {}});
        free_.push_back(0);
        return beside.back();
    }

    const Trace& trace_;
    const std::vector<std::uint32_t> tags_;
    std::vector<Otf2Location> locations_;
    std::vector<std::uint64_t> free_; // end of the last work on each location
    std::map<int, std::vector<std::size_t>> beside_;
};

} // namespace

std::uint64_t otf2_time(Seconds seconds) {
    return static_cast<std::uint64_t>(std::llround(seconds * static_cast<double>(otf2_ticks)));
}

std::vector<Otf2Location> otf2_locations(const Recording& recording) {
    for (const Event& event : recording.trace.events)
        check(event, recording.ranks);
    Dealer dealer(recording.trace, recording.ranks);
    for (const std::size_t event : in_order(recording.trace.events))
        dealer.deal(event);
    return dealer.finish();
}

} // namespace sextant::report
