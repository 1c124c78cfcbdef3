// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/scan/stealing.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace sextant::scan {

ExpectedTimes ExpectedTimes::alike(Elements values) {
    ExpectedTimes made;
    for (Elements value = 1; value <= values; ++value)
        made.until_.push_back(static_cast<Seconds>(value));
    made.alike_ = true;
    return made;
}

ExpectedTimes::ExpectedTimes(std::span<const Seconds> times) {
    for (std::size_t value = 0; value < times.size(); ++value) {
        const Seconds sum = until_.back() + times[value];
        if (!(times[value] >= 0) || !std::isfinite(sum)) {
            throw InvalidTask(fmt::format("value {} is expected to take {} s: expected 0 or more, "
                                          "and a finite sum",
                                          value, times[value]));
        }
        until_.push_back(sum);
    }
    if (until_.back() == 0)
        *this = alike(values());
}

Series ExpectedTimes::dealt(int parts) const {
    if (alike_)
        return scan::dealt(values(), parts);
    Series shares;
    Elements first = 0;
    for (int left = parts; left > 0; --left) {
        const Elements last = end_of_share(first, left);
        shares.push_back(last - first);
        first = last;
    }
    return shares;
}

/// The end of the share that begins at `first`, with `shares_left` shares to go. It divides what is
/// left, so that a value that takes long does not starve the last share.
Elements ExpectedTimes::end_of_share(Elements first, int shares_left) const {
    const Seconds wanted = at(first) + (until_.back() - at(first)) / shares_left;
    const auto from = until_.begin() + first;
    const auto found = std::lower_bound(from, until_.end() - 1, wanted);
    Elements last = found - until_.begin();
    if (found > from && wanted - *(found - 1) < *found - wanted)
        --last;
    const Elements left = values() - first;
    const Elements least = shares_left == 1 ? left : std::min<Elements>(left, 1);
    return std::clamp(last, first + least, first + std::max(least, left - shares_left + 1));
}

Elements ExpectedTimes::middle(const Interval& values) const {
    const Seconds half = (at(values.first) + at(values.last)) / 2;
    const auto from = until_.begin() + values.first + 1;
    const Elements passed = std::upper_bound(from, until_.begin() + values.last, half) - from;
    return std::min(values.first + passed, values.last - 1);
}

namespace {

bool any(const Interval& values) {
    return values.first < values.last;
}

/// Time taken relative to the expected time.
double slowness(Seconds taken, Seconds expected) {
    return expected > 0 ? taken / expected : 0;
}

} // namespace

Stealing::Stealing(ExpectedTimes values, int threads, Boundaries boundaries)
    : expected_(std::move(values)), boundaries_(boundaries) {
    Elements first = 0;
    for (const Elements own : expected_.dealt(threads)) {
        const Interval share{first, first + own};
        const auto number = static_cast<int>(threads_.size());
        Elements start = share.first;
        if (number > 0)
            start = number == threads - 1 ? share.last - 1 : expected_.middle(share);
        threads_.push_back({share, {start, start + 1}, start});
        first = share.last;
    }
}

/// The unclaimed values directly before a thread's segment that it may take.
Interval Stealing::left_before(int thread) const {
    const bool bounded = thread == 0 || boundaries_ == Boundaries::fixed;
    const Elements from = bounded ? at(thread).share.first : at(thread - 1).claimed.last;
    return {from, at(thread).claimed.first};
}

Interval Stealing::left_after(int thread) const {
    const bool bounded =
        thread == static_cast<int>(threads_.size()) - 1 || boundaries_ == Boundaries::fixed;
    const Elements to = bounded ? at(thread).share.last : at(thread + 1).claimed.first;
    return {at(thread).claimed.last, to};
}

/// The current estimate of a thread's time per unit of expected time.
double Stealing::pace(int thread, Seconds now) const {
    const Thread& own = at(thread);
    const double known = slowness(own.busy, own.expected);
    if (!own.working)
        return known;
    return std::max(known, slowness(own.busy + now - own.began, own.expected + own.expected_now));
}

/// The need of a neighbour for help with the values `left` between it and a thread. A neighbour
/// that also has values on its other side has only half its time for these.
Seconds Stealing::need(int neighbour, const Interval& left, const Interval& elsewhere,
                       Seconds now) const {
    if (boundaries_ == Boundaries::towards_slower)
        return pace(neighbour, now);
    return pace(neighbour, now) * expected_.of(left) * (any(elsewhere) ? 2 : 1);
}

Seconds Stealing::need_before(int thread, Seconds now) const {
    return thread == 0 ? 0 : need(thread - 1, left_before(thread), left_before(thread - 1), now);
}

Seconds Stealing::need_after(int thread, Seconds now) const {
    const bool is_last = thread == static_cast<int>(threads_.size()) - 1;
    return is_last ? 0 : need(thread + 1, left_after(thread), left_after(thread + 1), now);
}

bool Stealing::prefers_before(int thread, Seconds now) const {
    if (!any(left_before(thread)) || !any(left_after(thread)))
        return any(left_before(thread));
    const Seconds before = need_before(thread, now), after = need_after(thread, now);
    if (before != after)
        return before > after;
    const Thread& own = at(thread);
    return expected_.of({own.share.first, own.claimed.first}) >
           expected_.of({own.claimed.last, own.share.last});
}

std::optional<Extension> Stealing::next(int thread, Seconds now) {
    Thread& own = threads_[static_cast<std::size_t>(thread)];
    if (own.working) {
        own.busy += now - own.began;
        own.expected += own.expected_now;
        own.working = false;
    }
    if (!any(left_before(thread)) && !any(left_after(thread)))
        return std::nullopt;
    const bool before = prefers_before(thread, now);
    const Elements value = before ? --own.claimed.first : own.claimed.last++;
    const Elements joined = before ? value + 1 : value; // the right-hand one of the two
    own.working = true;
    own.began = now;
    own.expected_now = expected_.of({joined, joined + 1});
    if (value < own.share.first || value >= own.share.last)
        ++stolen_;
    return Extension{value, before};
}

int employed(Elements values, int threads) {
    return static_cast<int>(std::min<Elements>(values, threads));
}

Totals totals(const Series& series, const GlobalScan& global, int rank) {
    if (series[static_cast<std::size_t>(rank)] == 0)
        return {};
    const Workers workers = workers_of(series, rank);
    ProgramBuilder builder;
    const Region total = builder.input(1);
    const Prefixes known = scan_totals(builder, {workers.values, workers.number}, global, total);
    Totals made{{}, !known.before.empty(), !known.through.empty()};
    const Region output = builder.output((made.before ? 1 : 0) + (made.through ? 1 : 0));
    if (made.before)
        builder.copy(nth(output, 0), known.before);
    if (made.through)
        builder.copy(nth(output, made.before ? 1 : 0), known.through);
    made.program = with_peers(builder.finish(output), workers.ranks);
    return made;
}

LastPhase last_phase(const Interval& segment, int thread, bool is_last, const Totals& known,
                     bool is_first_rank) {
    if (is_first_rank && thread == 0)
        return {};
    const bool last_is_known = !is_last || known.through; // the next thread joins up to there
    LastPhase phase{known.before && thread > 0, segment};
    if (last_is_known)
        --phase.applied.last;
    return phase;
}

} // namespace sextant::scan
