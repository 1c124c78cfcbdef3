// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/trace_clocks.hpp"

#include "sextant/distributed/collective.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sextant::command {

namespace {

/// Converts times of a rank to times since the first start of any rank.
class Alignment {
  public:
    /// Collective.
    Alignment(const Communicator& communicator, Seconds origin, const HostClock& clock,
              const std::vector<ClockOffset>& before)
        : after_(clock_offsets(communicator, clock)), before_(before), origin_(origin) {
        const std::vector<std::uint64_t> identities = communicator.all_gather(clock.identity);
        while (identities[static_cast<std::size_t>(after_[mine_].first_rank)] != clock.identity)
            ++mine_;
        const auto known = [](const ClockOffset& each) { return std::isfinite(each.uncertainty); };
        aligned_ = std::all_of(after_.begin(), after_.end(), known) &&
                   std::all_of(before_.begin(), before_.end(), known);
        struct Start {
            std::size_t clock = 0;
            Seconds at = 0;
        };
        const Start own{aligned_ ? 0 : mine_, on_first_clock(origin)};
        first_ = own.at;
        for (const Start& start : communicator.all_gather(own)) {
            if (start.clock == own.clock)
                first_ = std::min(first_, start.at);
        }
    }

    /// Converts a time since this rank's own start.
    Seconds operator()(Seconds since_own) const {
        return on_first_clock(origin_ + since_own) - first_;
    }
    int clocks() const { return static_cast<int>(after_.size()); }
    std::vector<ClockOffset> aligned() const {
        return aligned_ && clocks() > 1 ? after_ : std::vector<ClockOffset>();
    }

  private:
    Seconds on_first_clock(Seconds own) const {
        return aligned_ ? own + correction(before_[mine_], after_[mine_], own) : own;
    }

    std::vector<ClockOffset> after_, before_;
    Seconds origin_, first_ = 0;
    std::size_t mine_ = 0; // index of this rank's clock
    bool aligned_ = false;
};

template <class Stretch>
std::vector<Stretch> aligned(std::vector<Stretch> stretches, const Alignment& alignment) {
    for (Stretch& stretch : stretches) {
        stretch.begin = alignment(stretch.begin);
        stretch.end = alignment(stretch.end);
    }
    return stretches;
}

/// Gathers the items of all ranks on rank 0, by a schedule.
template <class Item>
std::vector<Item> at_first_rank(const Communicator& communicator, const std::vector<Item>& own) {
    Collective gather(communicator,
                      {CollectiveKind::gather, {static_cast<Elements>(own.size())}, sizeof(Item)},
                      {.algorithm = "flat-gather"});
    const std::span<const Item> all = gather.run<Item>(own);
    return {all.begin(), all.end()};
}

} // namespace

TraceClocks::TraceClocks(const Communicator& communicator, HostClock clock)
    : communicator_(communicator),
      clock_(std::move(clock)),
      before_(clock_offsets(communicator_, clock_)) {}

GatheredTrace TraceClocks::gather(const Trace& own) const {
    const Alignment alignment(communicator_, own.origin, clock_, before_);
    GatheredTrace gathered;
    gathered.clocks = alignment.clocks();
    gathered.aligned = alignment.aligned();
    gathered.trace.events = at_first_rank(communicator_, aligned(own.events, alignment));
    for (const Event& event : gathered.trace.events)
        gathered.trace.duration = std::max(gathered.trace.duration, event.end);
    return gathered;
}

std::vector<scan::Bar> TraceClocks::gather(std::vector<scan::Bar> own, Seconds origin) const {
    const Alignment alignment(communicator_, origin, clock_, before_);
    return at_first_rank(communicator_, aligned(std::move(own), alignment));
}

} // namespace sextant::command
