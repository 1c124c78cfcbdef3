// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/gather_trace.hpp"

#include "sextant/collective/linear_gather.hpp"
#include "sextant/comm/execute.hpp"

#include <algorithm>
#include <set>

namespace sextant::operation {

namespace {

/// When a rank began, on which clock, and how many events it has.
struct Start {
    std::uint64_t clock = 0;
    Seconds origin = 0;
    Elements events = 0;
};

/// How much later this rank began than the first on its clock.
Seconds late(const std::vector<Start>& starts, const Start& own) {
    Seconds first = own.origin;
    for (const Start& start : starts) {
        if (start.clock == own.clock)
            first = std::min(first, start.origin);
    }
    return own.origin - first;
}

int clocks_of(const std::vector<Start>& starts) {
    std::set<std::uint64_t> clocks;
    for (const Start& start : starts)
        clocks.insert(start.clock);
    return static_cast<int>(clocks.size());
}

/// Everyone's events at rank 0: a schedule like any other.
std::vector<Event> events_at_first(const Communicator& communicator,
                                   const std::vector<Elements>& counts,
                                   const std::vector<Event>& own) {
    Operator nothing_to_fold;
    nothing_to_fold.element = {"event", sizeof(Event)};
    Execution execution(communicator, collective::linear_gather(counts, communicator.rank()),
                        nothing_to_fold);
    execution.bind(0, std::as_bytes(std::span(own)));
    execution.run();
    const std::span<const std::byte> bytes = execution.result();
    const auto* events = reinterpret_cast<const Event*>(bytes.data());
    return {events, events + bytes.size() / sizeof(Event)};
}

} // namespace

GatheredTrace gather_trace(const Communicator& communicator, const Trace& own,
                           std::uint64_t clock) {
    const Start mine{clock, own.origin, static_cast<Elements>(own.events.size())};
    const std::vector<Start> starts = communicator.all_gather(mine);
    std::vector<Elements> counts;
    for (const Start& start : starts)
        counts.push_back(start.events);

    std::vector<Event> events = own.events;
    const Seconds shift = late(starts, mine);
    for (Event& event : events) {
        event.begin += shift;
        event.end += shift;
    }
    GatheredTrace gathered;
    gathered.clocks = clocks_of(starts);
    gathered.trace.events = events_at_first(communicator, counts, events);
    for (const Event& event : gathered.trace.events)
        gathered.trace.duration = std::max(gathered.trace.duration, event.end);
    return gathered;
}

} // namespace sextant::operation
