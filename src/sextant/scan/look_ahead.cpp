// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/scan/look_ahead.hpp"

#include <algorithm>

namespace sextant::scan {

Application LookAhead::Task::in_series(Elements first) const {
    const Elements begin = first + segment.first, end = first + segment.last;
    switch (kind) {
    case Kind::prefix:
        return {first, end, end + 1};
    case Kind::extend:
        return {begin, end, end + 1};
    case Kind::join:
        break;
    }
    return {first, begin, end};
}

LookAhead::LookAhead(Elements values, int threads)
    : values_(values), threads_(static_cast<std::size_t>(threads)) {
    threads_.front().role = Role::leads;
}

/// The value up to which a segment may be extended: the start of the next segment. The last segment
/// may take half of the values that remain, because after the join one thread scans the other half
/// while another fills in the segment.
Elements LookAhead::limit_of(std::size_t segment) const {
    if (segment + 1 < segments_.size())
        return segments_[segment + 1].first;
    const Elements first = segments_[segment].first;
    return first + (values_ - first + 1) / 2;
}

/// A task that computes the result of value `segment.last` or, for a join, of the value before it.
LookAhead::Task LookAhead::result(int thread, Task::Kind kind, const Interval& segment) {
    const Elements value = segment.last - (kind == Task::Kind::join ? 1 : 0);
    const auto threads = static_cast<Elements>(threads_.size());
    if (value * threads / values_ != thread)
        ++stolen_;
    return {kind, segment};
}

std::optional<LookAhead::Task> LookAhead::lead(int thread) {
    Thread& own = threads_[static_cast<std::size_t>(thread)];
    if (joined_ < segments_.size() && front_ == segments_[joined_].first) {
        Segment& segment = segments_[joined_];
        segment.reached = true;
        segment.filled = segment.first;
        own.segment = joined_;
        if (segment.attended) { // joined by the thread that extends the segment, when it stops
            segment.filling = true;
            own.role = Role::fills;
            return std::nullopt;
        }
        own.role = Role::joins;
        return result(thread, Task::Kind::join, {segment.first, segment.last});
    }
    if (front_ < values_)
        return result(thread, Task::Kind::prefix, {0, front_++});
    own.role = Role::idle;
    return std::nullopt;
}

std::optional<LookAhead::Task> LookAhead::look_ahead(int thread) {
    Thread& own = threads_[static_cast<std::size_t>(thread)];
    Segment& segment = segments_[own.segment];
    if (segment.reached) {
        own.role = Role::joins;
        return result(thread, Task::Kind::join, {segment.first, segment.last});
    }
    if (segment.last < limit_of(own.segment)) {
        segment.extending = true;
        return Task{Task::Kind::extend, {segment.first, segment.last}};
    }
    segment.attended = false;
    own.role = Role::idle;
    return std::nullopt;
}

/// Fills in all results of a segment but the last. The last one's slot holds the segment's total
/// until the join.
std::optional<LookAhead::Task> LookAhead::fill(int thread) {
    Thread& own = threads_[static_cast<std::size_t>(thread)];
    Segment& segment = segments_[own.segment];
    if (segment.filled < segment.last - 1)
        return result(thread, Task::Kind::prefix, {0, segment.filled++});
    segment.filling = false;
    own.role = Role::idle;
    return std::nullopt;
}

/// Assigns a role to an idle thread. Returns false if there is no work now.
bool LookAhead::find_work(int thread) {
    Thread& own = threads_[static_cast<std::size_t>(thread)];
    for (std::size_t i = 0; i < segments_.size(); ++i) {
        Segment& segment = segments_[i];
        if (!segment.reached || segment.filling || segment.filled >= segment.last - 1)
            continue;
        segment.filling = true;
        own = {Role::fills, i};
        return true;
    }
    const auto threads = static_cast<Elements>(threads_.size());
    const Elements distance = std::max<Elements>(1, (values_ - front_) / (threads + 1));
    Elements first = front_ + distance;
    if (joined_ < segments_.size()) {
        const Segment& farthest = segments_.back();
        first = std::max(farthest.first + distance, farthest.last + (farthest.extending ? 1 : 0));
    }
    constexpr Elements fewest = 4; // a join of fewer values saves nothing
    if (values_ - first < fewest)
        return false;
    segments_.push_back({first, first + 1});
    own = {Role::looks_ahead, segments_.size() - 1};
    return true;
}

std::optional<LookAhead::Task> LookAhead::next(int thread) {
    Thread& own = threads_[static_cast<std::size_t>(thread)];
    if (own.role == Role::looks_ahead && segments_[own.segment].extending) {
        segments_[own.segment].extending = false;
        ++segments_[own.segment].last;
    }
    if (own.role == Role::joins) {
        front_ = segments_[own.segment].last;
        ++joined_;
        own.role = Role::leads;
    }
    for (;;) {
        std::optional<Task> task;
        switch (own.role) {
        case Role::leads:
            task = lead(thread);
            break;
        case Role::looks_ahead:
            task = look_ahead(thread);
            break;
        case Role::fills:
            task = fill(thread);
            break;
        default:
            if (!find_work(thread))
                return std::nullopt;
        }
        if (task)
            return task;
    }
}

bool LookAhead::finished() const {
    return front_ >= values_ && joined_ == segments_.size() &&
           std::all_of(segments_.begin(), segments_.end(),
                       [](const Segment& segment) { return segment.filled >= segment.last - 1; });
}

} // namespace sextant::scan
