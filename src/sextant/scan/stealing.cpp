// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/scan/stealing.hpp"

#include "sextant/scan/series.hpp"

#include <algorithm>

namespace sextant::scan {

Stealing::Stealing(Elements values, int threads, Boundaries boundaries) : boundaries_(boundaries) {
    Elements first = 0;
    for (const Elements own : dealt(values, threads)) {
        const Interval share{first, first + own};
        const auto number = static_cast<int>(threads_.size());
        Elements start = share.first;
        if (number > 0)
            start = number == threads - 1 ? share.last - 1 : (share.first + share.last) / 2;
        threads_.push_back({share, {start, start + 1}, start});
        first = share.last;
    }
}

/// Unclaimed values that a thread may take before what it has.
Elements Stealing::left_before(int thread) const {
    const bool bounded = thread == 0 || boundaries_ == Boundaries::fixed;
    const Elements from = bounded ? at(thread).share.first : at(thread - 1).claimed.last;
    return at(thread).claimed.first - from;
}

Elements Stealing::left_after(int thread) const {
    const bool bounded =
        thread == static_cast<int>(threads_.size()) - 1 || boundaries_ == Boundaries::fixed;
    const Elements to = bounded ? at(thread).share.last : at(thread + 1).claimed.first;
    return to - at(thread).claimed.last;
}

/// What an application takes a thread, as far as can be told.
Seconds Stealing::pace(int thread, Seconds now) const {
    const Thread& own = at(thread);
    const auto applied = static_cast<double>(own.applied);
    const Seconds known = own.applied > 0 ? own.busy / applied : 0;
    if (!own.working)
        return known;
    return std::max(known, (own.busy + now - own.began) / (applied + 1));
}

/// How much a neighbour is in need of help with `left` values between it and a thread. One with
/// values on its other side too has only half its time for these.
Seconds Stealing::need(int neighbour, Elements left, Elements elsewhere, Seconds now) const {
    const bool exists = neighbour >= 0 && neighbour < static_cast<int>(threads_.size());
    if (!exists || left == 0)
        return 0;
    if (boundaries_ == Boundaries::towards_slower)
        return pace(neighbour, now);
    return pace(neighbour, now) * static_cast<double>(left) * (elsewhere > 0 ? 2 : 1);
}

bool Stealing::prefers_before(int thread, Seconds now) const {
    const Elements before = left_before(thread), after = left_after(thread);
    if (before == 0 || after == 0)
        return before > 0;
    const auto last = static_cast<int>(threads_.size()) - 1;
    const Seconds left = need(thread - 1, before, thread > 0 ? left_before(thread - 1) : 0, now);
    const Seconds right = need(thread + 1, after, thread < last ? left_after(thread + 1) : 0, now);
    if (left != right)
        return left > right;
    const Thread& own = at(thread);
    return own.claimed.first - own.share.first > own.share.last - own.claimed.last;
}

std::optional<Extension> Stealing::next(int thread, Seconds now) {
    Thread& own = threads_[static_cast<std::size_t>(thread)];
    if (own.working) {
        own.busy += now - own.began;
        ++own.applied;
        own.working = false;
    }
    if (left_before(thread) == 0 && left_after(thread) == 0)
        return std::nullopt;
    const bool before = prefers_before(thread, now);
    const Elements value = before ? --own.claimed.first : own.claimed.last++;
    own.working = true;
    own.began = now;
    if (value < own.share.first || value >= own.share.last)
        ++stolen_;
    return Extension{value, before};
}

} // namespace sextant::scan
