// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/scan/rehearsal.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

namespace sextant::scan {

namespace {

std::size_t index(Elements i) {
    return static_cast<std::size_t>(i);
}

} // namespace

/// One performance of ranks with threads.
class Rehearsal::Stage {
  public:
    Stage(const Rehearsal& own, const OperatorTime& time, bool with_bars, Balance balance)
        : own_(own), time_(time), with_bars_(with_bars), balance_(balance) {}

    Performance play(std::span<const Seconds> starts) {
        const auto ranks = static_cast<int>(own_.series_.size());
        std::vector<Seconds> reduced;
        for (int rank = 0; rank < ranks; ++rank)
            reduced.push_back(reduce(rank, starts.empty() ? 0 : starts[index(rank)]));
        const std::vector<Seconds> known =
            own_.ranks_->play({[&](int rank, Elements) { return whole(rank); }, reduced, time_,
                               [&](int rank, const Application& what, Seconds begin, Seconds end) {
                                   note(rank, 0, what, begin, end);
                               }});
        for (int rank = 0; rank < ranks; ++rank)
            finish(rank, known[index(rank)]);
        return std::move(performance_);
    }

  private:
    Interval whole(int rank) const {
        const Elements first = own_.first_[index(rank)];
        return {first, first + own_.series_[index(rank)]};
    }

    void note(int rank, int thread, const Application& what, Seconds begin, Seconds end) {
        if (with_bars_)
            performance_.bars.push_back({rank, thread, what, begin, end});
    }

    /// Where balance is perfect, threads that began together end together.
    void share_out(std::vector<Seconds>& ends, Seconds start) const {
        if (balance_ == Balance::as_it_is)
            return;
        const Seconds sum = std::accumulate(ends.begin(), ends.end(), 0.0);
        const Seconds mean = sum / static_cast<double>(ends.size());
        std::fill(ends.begin(), ends.end(), std::max(start, mean));
    }

    /// Reduces a rank's values and scans the threads' totals. When the last thread is done.
    Seconds reduce(int rank, Seconds start) {
        const Elements values = own_.series_[index(rank)];
        std::vector<Interval>& segments = segments_.emplace_back();
        if (values == 0)
            return start;
        const int threads = employed(values, own_.way_.threads);
        const bool perfect = balance_ == Balance::perfect;
        Stealing stealing(own_.expected_[index(rank)], threads,
                          perfect ? Boundaries::fixed : own_.way_.boundaries);
        std::vector<Seconds> ends = drive(stealing, threads, rank, start);
        share_out(ends, start);
        performance_.stolen += stealing.stolen();
        for (int thread = 0; thread < threads; ++thread)
            segments.push_back(in_series(rank, stealing.segment(thread)));
        const std::vector<Seconds> done = own_.threads_[index(threads)]->play(
            {[&](int thread, Elements) { return segments[index(thread)]; }, ends, time_,
             [&](int thread, const Application& what, Seconds begin, Seconds end) {
                 note(rank, thread, what, begin, end);
             }});
        return *std::max_element(done.begin(), done.end());
    }

    /// Whoever is free first claims first. When each thread has nothing more to claim.
    std::vector<Seconds> drive(Stealing& stealing, int threads, int rank, Seconds start) {
        using Free = std::tuple<Seconds, int>;
        std::priority_queue<Free, std::vector<Free>, std::greater<>> free;
        for (int thread = 0; thread < threads; ++thread)
            free.emplace(start, thread);
        std::vector<Seconds> ends(index(threads), start);
        while (!free.empty()) {
            const auto [now, thread] = free.top();
            free.pop();
            ends[index(thread)] = now;
            const Interval had = in_series(rank, stealing.segment(thread));
            const auto claim = stealing.next(thread, now);
            if (!claim)
                continue;
            const Application what = claim->before ? Application{had.first - 1, had.first, had.last}
                                                   : Application{had.first, had.last, had.last + 1};
            const Seconds end = now + time_(what);
            note(rank, thread, what, now, end);
            free.emplace(end, thread);
        }
        return ends;
    }

    /// Every thread's last phase.
    void finish(int rank, Seconds start) {
        std::vector<Seconds> ends;
        for (int thread = 0; thread < static_cast<int>(segments_[index(rank)].size()); ++thread)
            ends.push_back(finish(rank, thread, start));
        if (!ends.empty())
            share_out(ends, start);
        for (const Seconds end : ends)
            performance_.makespan = std::max(performance_.makespan, end);
    }

    Seconds finish(int rank, int thread, Seconds now) {
        const std::vector<Interval>& segments = segments_[index(rank)];
        const bool is_last = thread == static_cast<int>(segments.size()) - 1;
        const LastPhase phase =
            last_phase(segments[index(thread)], thread, is_last, own_.totals_[index(rank)],
                       own_.first_[index(rank)] == 0);
        const auto apply = [&](const Application& what) {
            const Seconds end = now + time_(what);
            note(rank, thread, what, now, end);
            now = end;
        };
        if (phase.joins)
            apply({0, own_.first_[index(rank)], segments[index(thread)].first});
        for (Elements value = phase.applied.first; value < phase.applied.last; ++value)
            apply({0, value, value + 1});
        return now;
    }

    Interval in_series(int rank, const Interval& own) const {
        const Elements first = own_.first_[index(rank)];
        return {first + own.first, first + own.last};
    }

    const Rehearsal& own_;
    const OperatorTime& time_;
    const bool with_bars_;
    const Balance balance_;
    std::vector<std::vector<Interval>> segments_; ///< by rank and thread, in the series
    Performance performance_;
};

Rehearsal::Rehearsal(const Series& series, const Way& way, std::span<const Seconds> expected)
    : way_(way), series_(scanned(series, way.shares, expected)) {
    check(way);
    Elements first = 0;
    for (const Elements own : series_)
        first_.push_back(std::exchange(first, first + own));
    const auto ranks = static_cast<int>(series_.size());
    if (way.threads == 1) {
        ranks_ = std::make_unique<Clockwork>(make_schedule(
            ranks, [&](int rank) { return program(way.strategy, series_, way.global, rank); }));
        return;
    }
    Schedule schedule;
    for (int rank = 0; rank < ranks; ++rank) {
        totals_.push_back(totals(series_, way.global, rank));
        expected_.push_back(expected_on_rank(series_, rank, way.shares, expected));
        schedule.push_back(totals_.back().program);
        plan_threads(employed(series_[index(rank)], way.threads));
    }
    ranks_ = std::make_unique<Clockwork>(std::move(schedule));
}

void Rehearsal::plan_threads(int threads) {
    if (threads >= static_cast<int>(threads_.size()))
        threads_.resize(index(threads) + 1);
    if (threads == 0 || threads_[index(threads)])
        return;
    threads_[index(threads)] = std::make_unique<Clockwork>(make_schedule(threads, [&](int thread) {
        return program(find(circuit_among_threads), {threads, 1, Form::inclusive}, {}, thread);
    }));
}

Performance Rehearsal::play(const OperatorTime& time, std::span<const Seconds> starts,
                            bool with_bars) const {
    if (way_.threads > 1)
        return Stage(*this, time, with_bars, Balance::as_it_is).play(starts);
    Performance performance;
    Clockwork::Input input{[&](int rank, Elements e) {
                               const Elements value = first_[index(rank)] + e;
                               return Interval{value, value + 1};
                           },
                           {starts.begin(), starts.end()},
                           time,
                           {}};
    if (with_bars) {
        input.note = [&](int rank, const Application& what, Seconds begin, Seconds end) {
            performance.bars.push_back({rank, 0, what, begin, end});
        };
    }
    for (const Seconds end : ranks_->play(input))
        performance.makespan = std::max(performance.makespan, end);
    return performance;
}

Seconds Rehearsal::balanced(const OperatorTime& time, std::span<const Seconds> starts) const {
    if (way_.threads == 1)
        return play(time, starts).makespan;
    return Stage(*this, time, false, Balance::perfect).play(starts).makespan;
}

} // namespace sextant::scan
