// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/work_log.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace sextant::command {

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
