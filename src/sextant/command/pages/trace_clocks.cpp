// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/pages/trace_clocks.hpp"

#include "sextant/collectives/collective.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
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

namespace {

using registration::Work;

constexpr std::size_t most_bars = 4096;

Seconds now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// Encodes a bar as an event, for transfer between ranks.
Event event_of(const WorkBar& bar) {
    Event event{bar.rank, static_cast<int>(bar.work), Activity::compute};
    event.elements = bar.results;
    event.begin = bar.begin;
    event.end = bar.end;
    return event;
}

WorkBar bar_of(const Event& event) {
    return {event.rank, static_cast<Work>(event.step), event.elements, event.begin, event.end};
}

} // namespace

std::vector<WorkBar> put_together(std::vector<WorkBar> bars, Seconds pause) {
    std::vector<WorkBar> all;
    for (const WorkBar& bar : bars) {
        const bool goes_on = !all.empty() && all.back().rank == bar.rank &&
                             all.back().work == bar.work && bar.begin - all.back().end <= pause;
        if (!goes_on) {
            all.push_back(bar);
            continue;
        }
        all.back().end = std::max(all.back().end, bar.end);
        all.back().results += bar.results;
    }
    return all;
}

WorkLog::WorkLog(int rank) : rank_(rank), origin_(now()) {}

void WorkLog::add(Work work, Seconds begin, Seconds end) {
    const WorkBar bar{rank_, work, 1, begin - origin_, end - origin_};
    busy_.at(static_cast<std::size_t>(work)) += bar.end - bar.begin;
    bars_.push_back(bar);
    if (bars_.size() <= most_bars)
        return;
    pause_ = std::max(2 * pause_, bar.end / static_cast<double>(most_bars));
    bars_ = put_together(std::move(bars_), pause_);
}

std::optional<double> GatheredWork::idle(Work work, int threads) const {
    Seconds first = 0, last = 0;
    for (const WorkBar& bar : bars) {
        if (bar.work != work)
            continue;
        first = last == 0 ? bar.begin : std::min(first, bar.begin);
        last = std::max(last, bar.end);
    }
    if (last <= first)
        return std::nullopt;
    return 1 - busy.at(static_cast<std::size_t>(work)) / (ranks * threads * (last - first));
}

GatheredWork gather_work(const Communicator& communicator, const TraceClocks& clocks,
                         const WorkLog& log) {
    Trace own;
    own.origin = log.origin();
    std::transform(log.bars().begin(), log.bars().end(), std::back_inserter(own.events), event_of);
    const GatheredTrace gathered = clocks.gather(own);
    GatheredWork work;
    work.ranks = communicator.size();
    work.clocks = gathered.clocks;
    work.aligned = gathered.aligned;
    std::transform(gathered.trace.events.begin(), gathered.trace.events.end(),
                   std::back_inserter(work.bars), bar_of);
    for (const auto& busy : communicator.all_gather(log.busy())) {
        for (std::size_t kind = 0; kind < busy.size(); ++kind)
            work.busy[kind] += busy[kind];
    }
    return work;
}

} // namespace sextant::command
