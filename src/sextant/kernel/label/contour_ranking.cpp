// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/label/contour_ranking.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/kernel/label/label_vectors.hpp"
#include "sextant/kernel/pixel_fold.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include <fmt/format.h>
#include <hwy/cache_control.h>

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

/// Converts the count of a point to a count of its root segment, with path halving.
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
    // A parent comes before its children, so its own parent is already the root, with a known
    // offset.
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

namespace {

/// Padding on either side of a row of counts, so that points at its ends have neighbours.
constexpr Elements margin = 1;

template <class T>
constexpr Bytes size_of = static_cast<Bytes>(sizeof(T));

Direction opposite(Direction code) {
    return static_cast<Direction>(code ^ 4);
}

bool leads_out(Direction code, Elements x, Elements y, const Tile& tile) {
    const Elements to_x = x + steps[code].x, to_y = y + steps[code].y;
    return to_x < 0 || to_x >= tile.width || to_y < 0 || to_y >= tile.height;
}

} // namespace

/// The links of a point. A predecessor with code 0 … 3, or a successor with code 4 … 7, comes
/// before the point in row order.
struct ContourRanking::Links {
    Direction successor, predecessor;

    bool from_before() const { return (predecessor & ~3) == 0; }
    bool to_before() const { return (successor & ~3) == 4; }
    /// True if the predecessor comes before and the successor after the point in row order;
    /// goes_back() is true for the reverse.
    bool goes_on() const { return ((predecessor | successor) & ~3) == 0; }
    bool goes_back() const { return to_before() && (predecessor & ~3) == 4; }
};

/// The counts of the neighbours that come before a point in row order. rows[code % 4][x]: the
/// neighbour that is linked with x by this code; segment 0 means no point.
struct ContourRanking::Before {
    const Count* rows[4];

    /// The count of a point whose predecessor has this code.
    Count next(Direction predecessor, Elements x) const {
        const Count from = rows[predecessor][x];
        return {from.segment, from.count + 1};
    }
    /// The count of a point whose successor has this code.
    Count last(Direction successor, Elements x) const {
        const Count to = rows[successor - 4][x];
        return {to.segment, to.count - 1};
    }
};

void ContourRanking::apply(const DirectionView& input, const Tile& tile) {
    constexpr Elements most = std::numeric_limits<std::int32_t>::max();
    if (tile.width > most || tile.height > most || tile.elements() > most)
        throw InvalidTask(fmt::format("the tile has {}x{} pixels, but contours support at most {}",
                                      tile.width, tile.height, most));
    links_.begin(input, tile);
    prepare(tile, input.image);
    for (Elements y = 0; y < tile.height && tile.width > 0; ++y) {
        check_cancelled(tile.width);
        follow_row(links_.next(bits(y)), y);
    }
    finish();
}

void ContourRanking::prepare(const Tile& tile, ImageShape image) {
    tile_ = tile;
    image_ = image;
    words_ = words_for(tile.width);
    points_ = 0;
    const auto grow = [](Memory& memory, Bytes size) {
        if (memory.size() < size)
            memory = Memory(size);
    };
    grow(bits_, words_ * tile.height * size_of<std::uint64_t>);
    grow(followed_, tile.elements() * size_of<Count>);
    grow(counts_, 2 * (tile.width + 2 * margin) * size_of<Count>);
    std::fill_n(reinterpret_cast<Count*>(counts_.data()), 2 * (tile.width + 2 * margin), Count{});
    segments_.clear();
    open_entries_.clear();
}

std::uint64_t* ContourRanking::bits(Elements y) const {
    auto* const words = const_cast<std::byte*>(bits_.data());
    return reinterpret_cast<std::uint64_t*>(words) + y * words_;
}

Count* ContourRanking::followed() const {
    return reinterpret_cast<Count*>(const_cast<std::byte*>(followed_.data()));
}

/// Returns the counts of the latest row whose number has the same parity as `y`, by column.
Count* ContourRanking::counts(Elements y) {
    return reinterpret_cast<Count*>(counts_.data()) + (y & 1) * (tile_.width + 2 * margin) + margin;
}

/// Most points continue the line of an earlier neighbour. They are handled inline, because a call
/// would cost more than the work.
void ContourRanking::follow_row(const LinkedRow& row, Elements y) {
    Count* const here = counts(y);
    const Count* const above = counts(y + 1);
    const Before before{{here - 1, above - 1, above, above + 1}};
    Count* to = followed() + points_;
    const std::uint64_t* const points = bits(y);
    const Elements right = tile_.width - 1;
    const bool at_border = y == 0 || y == tile_.height - 1;
    for (Elements word = 0; word < words_; ++word) {
        for (std::uint64_t left = points[word]; left != 0; left &= left - 1) {
            const Elements x = 64 * word + std::countr_zero(left);
            const Links links{row.successors[x], row.predecessors[x]};
            Count made;
            if (links.goes_on())
                made = before.next(links.predecessor, x);
            else if (links.goes_back())
                made = before.last(links.successor, x);
            if (made.segment == 0)
                made = follow(links, before, x, y);
            here[x] = *to++ = made;
            if (at_border || x == 0 || x == right)
                note_border(links, x, y, made);
        }
    }
    points_ = to - followed();
}

/// Adds a point to the segment of an earlier neighbour to which it is linked. Joins the segments of
/// two such neighbours; starts a segment if there is no such neighbour.
Count ContourRanking::follow(const Links& links, const Before& before, Elements x, Elements y) {
    const Count next = links.from_before() ? before.next(links.predecessor, x) : Count{};
    const Count last = links.to_before() ? before.last(links.successor, x) : Count{};
    Count made;
    if (next.segment != 0) {
        made = next;
        if (last.segment != 0)
            segments_.join(made, {last.segment, last.count + 1});
    } else if (last.segment != 0) {
        made = last;
    } else {
        made = {segments_.add(pixel(x, y)), 0};
    }
    if (links.predecessor == no_edge)
        segments_.begin(made);
    if (links.successor == edge_end)
        segments_.end(made, pixel(x, y), false);
    return made;
}

void ContourRanking::note_border(const Links& links, Elements x, Elements y, Count made) {
    const auto [successor, predecessor] = links;
    if (successor >= 0 && leads_out(successor, x, y, tile_))
        segments_.end({made.segment, made.count + 1},
                      pixel(x + steps[successor].x, y + steps[successor].y), true);
    if (predecessor >= 0 && leads_out(opposite(predecessor), x, y, tile_)) {
        const Step step = steps[predecessor];
        segments_.begin(made);
        open_entries_.push_back({pixel(x, y), pixel(x - step.x, y - step.y), made});
    }
}

void ContourRanking::finish() {
    segments_.finish();
    chains_.clear();
    for (const Segments::Chain& chain : segments_.chains())
        chains_.push_back(
            {chain.end, chain.first, chain.links, chain.points, chain.leaves, chain.closed});
    entries_.clear();
    for (const OpenEntry& entry : open_entries_) {
        entries_.push_back({entry.pixel, entry.before,
                            segments_.links(entry.at.segment) - entry.at.count,
                            segments_.chain(entry.at.segment)});
    }
}

std::vector<Placing> ContourRanking::placings() const {
    std::vector<Placing> placings;
    placings.reserve(chains_.size());
    for (const Chain& chain : chains_) {
        const auto number = static_cast<std::int32_t>(placings.size());
        placings.push_back(
            {number, 0, chain.closed ? static_cast<std::int32_t>(chain.points) : Placing::open});
    }
    return placings;
}

void ContourRanking::write(std::span<const Placing> placings, const RankPlanes& planes) const {
    if (placings.size() != chains_.size())
        throw InvalidTask(fmt::format("{} positions for {} chains, expected one per chain",
                                      placings.size(), chains_.size()));
    if (tile_.elements() > 0 && (!planes.contours || !planes.ranks ||
                                 (tile_.height > 1 && std::abs(planes.stride) < tile_.width)))
        throw InvalidTask(fmt::format("a stride of {} is too small for rank planes of {}x{} pixels",
                                      planes.stride, tile_.width, tile_.height));
    std::vector<SegmentRanks> ranks(static_cast<std::size_t>(segments_.count()));
    for (std::int32_t segment = 1; segment < segments_.count(); ++segment) {
        const Placing& placing = placings[static_cast<std::size_t>(segments_.chain(segment))];
        ranks[static_cast<std::size_t>(segment)] = {
            placing.contour, segments_.links(segment) + placing.beyond, placing.period};
    }
    const auto aligned = [&](const std::int32_t* plane) {
        return reinterpret_cast<std::uintptr_t>(plane) % stream_alignment == 0;
    };
    const bool stream = aligned(planes.contours) && aligned(planes.ranks) &&
                        planes.stride * size_of<std::int32_t> % stream_alignment == 0 &&
                        exceeds_caches(2 * tile_.elements() * size_of<std::int32_t>);
    const Count* counts = followed();
    for (Elements y = 0; y < tile_.height && tile_.width > 0; ++y) {
        const Elements row = y * planes.stride;
        check_cancelled(tile_.width);
        counts += write_ranks({bits(y), counts, ranks.data(), planes.contours + row,
                               planes.ranks + row, tile_.width, stream});
    }
    if (stream)
        hwy::FlushStream();
}

} // namespace sextant::kernel
