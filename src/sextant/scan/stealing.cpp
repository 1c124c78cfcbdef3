// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/scan/stealing.hpp"

#include <algorithm>
#include <utility>

namespace sextant::scan {

namespace {

bool any(const Interval& values) {
    return values.first < values.last;
}

/// How many times as long as expected something takes.
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

/// Unclaimed values that a thread may take before what it has.
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

/// How long a thread takes for what is expected to take 1, as far as can be told.
double Stealing::pace(int thread, Seconds now) const {
    const Thread& own = at(thread);
    const double known = slowness(own.busy, own.expected);
    if (!own.working)
        return known;
    return std::max(known, slowness(own.busy + now - own.began, own.expected + own.expected_now));
}

/// How much a neighbour is in need of help with what is `left` between it and a thread. One with
/// values on its other side too has only half its time for these.
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
    const Elements joined = before ? value + 1 : value; // to what lies before it
    own.working = true;
    own.began = now;
    own.expected_now = expected_.of({joined, joined + 1});
    if (value < own.share.first || value >= own.share.last)
        ++stolen_;
    return Extension{value, before};
}

} // namespace sextant::scan
