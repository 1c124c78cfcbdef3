// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/label/segments.hpp"

#include <algorithm>

namespace sextant::kernel {

std::int32_t Segments::add(Elements pixel) {
    Segment made;
    made.parent = count();
    made.pixel = pixel;
    segments_.push_back(made);
    return made.parent;
}

void Segments::begin(Count point) {
    Segment& segment = segments_[at(point.segment)];
    segment.begins = true;
    segment.first = point.count;
}

void Segments::end(Count point, Elements pixel, bool leaves) {
    Segment& segment = segments_[at(point.segment)];
    segment.end = pixel;
    segment.last = point.count;
    segment.leaves = leaves;
}

/// The same point in the segment that its chain began with so far. Paths are halved.
Count Segments::in_root(Count point) {
    while (segments_[at(point.segment)].parent != point.segment) {
        Segment& segment = segments_[at(point.segment)];
        const Segment& parent = segments_[at(segment.parent)];
        if (parent.parent != segment.parent) {
            segment.offset += parent.offset;
            segment.parent = parent.parent;
        }
        point = {segment.parent, point.count + segment.offset};
    }
    return point;
}

void Segments::join(Count point, Count follower) {
    point = in_root(point);
    follower = in_root(follower);
    Segment& a = segments_[at(point.segment)];
    Segment& b = segments_[at(follower.segment)];
    const std::int32_t ahead = point.count + 1 - follower.count;
    if (point.segment == follower.segment) {
        a.closed = true;
        a.last = ahead;
    } else if (point.segment < follower.segment) {
        b.parent = point.segment;
        b.offset = ahead;
    } else {
        a.parent = follower.segment;
        a.offset = -ahead;
    }
}

void Segments::finish() {
    // A parent comes before: its own parent is then its root, and knows its place there.
    for (std::int32_t s = 1; s < count(); ++s) {
        Segment& segment = segments_[at(s)];
        const Segment& parent = segments_[at(segment.parent)];
        if (parent.parent != segment.parent) {
            segment.offset += parent.offset;
            segment.parent = parent.parent;
        }
        Segment& root = segments_[at(segment.parent)];
        if (segment.parent == s)
            continue;
        if (segment.begins) {
            root.begins = true;
            root.first = segment.first + segment.offset;
        }
        if (segment.end != none) {
            root.end = segment.end;
            root.last = segment.last + segment.offset;
            root.leaves = segment.leaves;
        }
    }
    chains_.clear();
    for (std::int32_t s = 1; s < count(); ++s) {
        Segment& segment = segments_[at(s)];
        Segment& root = segments_[at(segment.parent)];
        if (segment.parent == s) {
            segment.chain = static_cast<std::int32_t>(chains_.size());
            Chain chain{segment.end,    segment.pixel,
                        segment.last,   segment.last - segment.first + 1,
                        segment.leaves, segment.closed};
            if (segment.leaves)
                --chain.points;
            if (segment.closed) {
                chain.end = segment.pixel;
                chain.points = segment.last;
            }
            chains_.push_back(chain);
        }
        segment.chain = root.chain;
        segment.links = root.last - (segment.parent == s ? 0 : segment.offset);
    }
}

} // namespace sextant::kernel
