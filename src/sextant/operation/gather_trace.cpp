// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/gather_trace.hpp"

#include "sextant/collective/linear_gather.hpp"
#include "sextant/comm/execute.hpp"

#include <algorithm>
#include <set>

namespace sextant::operation {

namespace {

/// When a rank began, on which clock.
struct Start {
    std::uint64_t clock = 0;
    Seconds origin = 0;
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

template <class Stretch>
std::vector<Stretch> shifted(std::vector<Stretch> stretches, Seconds by) {
    for (Stretch& stretch : stretches) {
        stretch.begin += by;
        stretch.end += by;
    }
    return stretches;
}

/// Everyone's items at rank 0: a schedule like any other.
template <class Item>
std::vector<Item> at_first_rank(const Communicator& communicator, const std::vector<Item>& own) {
    const auto counts = communicator.all_gather(static_cast<Elements>(own.size()));
    Operator nothing_to_fold;
    nothing_to_fold.element = {"item", sizeof(Item)};
    Execution execution(communicator, collective::linear_gather(counts, communicator.rank()),
                        nothing_to_fold);
    execution.bind(0, std::as_bytes(std::span(own)));
    execution.run();
    const std::span<const std::byte> bytes = execution.result();
    const auto* items = reinterpret_cast<const Item*>(bytes.data());
    return {items, items + bytes.size() / sizeof(Item)};
}

int clocks_of(const std::vector<Start>& starts) {
    std::set<std::uint64_t> clocks;
    for (const Start& start : starts)
        clocks.insert(start.clock);
    return static_cast<int>(clocks.size());
}

} // namespace

GatheredTrace gather_trace(const Communicator& communicator, const Trace& own,
                           std::uint64_t clock) {
    const Start mine{clock, own.origin};
    const std::vector<Start> starts = communicator.all_gather(mine);
    GatheredTrace gathered;
    gathered.clocks = clocks_of(starts);
    gathered.trace.events = at_first_rank(communicator, shifted(own.events, late(starts, mine)));
    for (const Event& event : gathered.trace.events)
        gathered.trace.duration = std::max(gathered.trace.duration, event.end);
    return gathered;
}

std::vector<scan::Bar> gather_bars(const Communicator& communicator, std::vector<scan::Bar> own,
                                   Seconds origin, std::uint64_t clock) {
    const Start mine{clock, origin};
    const Seconds shift = late(communicator.all_gather(mine), mine);
    return at_first_rank(communicator, shifted(std::move(own), shift));
}

} // namespace sextant::operation
