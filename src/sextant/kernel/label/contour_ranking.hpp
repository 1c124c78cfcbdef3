// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/memory.hpp"
#include "sextant/core/units.hpp"
#include "sextant/kernel/label/directions.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace sextant::kernel {

/// A point's count along its segment: its successor's is one more. Segment 0: no point.
struct Count {
    std::int32_t segment = 0, count = 0;
};

/// Segments of chains that are found piece by piece and joined where one goes on in another: a
/// forest of unions in which each knows what its counts are in its parent's.
class Segments {
  public:
    /// Where a chain ends, and what it is.
    struct Chain {
        Elements end = none;     ///< the pixel it ends at; of a closed one its first
        Elements first = none;   ///< its first pixel, row by row
        std::int32_t links = 0;  ///< from there to its end; of a closed one all
        std::int32_t points = 0; ///< from its first point to its end, this one not counted if the
                                 ///< chain leaves; all of a closed one
        bool leaves = false, closed = false;
    };

    void clear() { segments_.assign(1, {}); }
    /// A segment of one point with count 0.
    std::int32_t add(Elements pixel);
    /// A point has nothing before it that counts.
    void begin(Count at);
    /// A point with this count is the last of its chain, or the first outside.
    void end(Count at, Elements pixel, bool leaves);
    /// `follower` comes right after the point `at`; both may be on one chain, which is then closed.
    void join(Count at, Count follower);

    /// Ends the joining: the chains, in the order of their first segments.
    void finish();
    std::span<const Chain> chains() const { return chains_; }
    std::int32_t count() const { return static_cast<std::int32_t>(segments_.size()); }

    /// After finish(): the chain of a segment, and the links from a point of it with count 0 to the
    /// chain's end (of a closed one, to its first pixel, once or twice round).
    std::int32_t chain(std::int32_t segment) const { return segments_[at(segment)].chain; }
    std::int32_t links(std::int32_t segment) const { return segments_[at(segment)].links; }

  private:
    static constexpr Elements none = -1;

    struct Segment {
        std::int32_t parent = 0; ///< one before it on its chain, or itself
        std::int32_t offset = 0; ///< its counts and this are its parent's
        std::int32_t first = 0;  ///< the count where the chain begins, if known here
        std::int32_t last = 0;   ///< the count where it ends, if known here; a closed one's points
        Elements pixel = none;   ///< its first
        Elements end = none;
        bool begins = false, leaves = false, closed = false;
        std::int32_t chain = 0, links = 0;
    };

    static std::size_t at(std::int32_t segment) { return static_cast<std::size_t>(segment); }
    Count in_root(Count at);

    std::vector<Segment> segments_;
    std::vector<Chain> chains_;
};

/// What the counts of a segment mean: rank = links − count, less `period` where that is too much.
struct SegmentRanks {
    std::int32_t contour = 0, links = 0, period = 0;
};

/// A row of pixels that take the numbers and ranks of its edge points.
struct RankRow {
    const std::uint64_t* points; ///< bits
    const Count* counts;         ///< of the points, in order
    const SegmentRanks* ranks;   ///< [segment]
    std::int32_t* contours_to;
    std::int32_t* ranks_to;
    Elements width;
    bool stream; ///< write past the caches: both are aligned to `stream_alignment`
};

/// Returns how many points the row has.
Elements write_ranks(const RankRow& row);

/// A contour, or the part of one that lies in a tile without a break.
struct Chain {
    Elements end = 0;      ///< the pixel (y · width + x) it ends at: its head, or the one outside
                           ///< the tile that follows its last point
    Elements smallest = 0; ///< its smallest pixel
    Elements links = 0;    ///< from there to `end`
    Elements points = 0;   ///< in the tile
    bool leaves = false;   ///< whether `end` lies outside
    bool closed = false;   ///< it has no end; the head is its smallest pixel
};

/// A point that is entered from outside the tile: the first of its chain.
struct Entry {
    Elements pixel = 0;
    Elements before = 0;    ///< the pixel outside that it follows
    Elements links = 0;     ///< to its chain's end
    std::int32_t chain = 0; ///< its number
};

/// Where a tile's chain lies on a contour: rank = (links to the chain's end + `beyond`) mod
/// `period`.
struct Placing {
    std::int32_t contour = 0;   ///< its number
    std::int32_t beyond = 0;    ///< links from the chain's end to the contour's head
    std::int32_t period = open; ///< points of a closed contour

    static constexpr std::int32_t open = std::numeric_limits<std::int32_t>::max();
};

/// Where contours' numbers and ranks go; −1 where there is no edge point.
struct RankPlanes {
    std::int32_t* contours = nullptr;
    std::int32_t* ranks = nullptr;
    Elements stride = 0; ///< of both
};

/// Contours of a direction map or a tile of one: for every edge point the head of its contour and
/// the number of links to it, found in one pass row by row, not by walking along contours: points
/// that follow one another in rows that meet share a segment and count on along it; segments that
/// meet are joined, with the difference of their counts.
///
/// Where several points are followed by one, the link of the lowest direction holds, and the others
/// end as heads.
///
/// Input     directions; of a tile, those within 2 pixels of it too, as far as the image goes.
/// Output    chains in the order of their first pixels, row by row; entries; planes.
/// Requires  links that lead to edge points of the image, codes from −2 to 7, a tile of fewer than
///           2³¹ pixels within the image; otherwise throws InvalidTask that names a pixel.
/// Cost      O(pixels / lanes + points); 8 bytes a point and 40 a segment are kept. `apply`
///           allocates nothing for what is no larger than before. One object a thread.
/// Deterministic  the same however the image is cut.
class ContourRanking {
  public:
    void apply(const DirectionView& input, const Tile& tile);

    std::span<const Chain> chains() const { return chains_; }
    std::span<const Entry> entries() const { return entries_; }
    Elements points() const { return points_; }
    Elements junctions() const { return links_.junctions(); } ///< points followed more than once
    Elements cut() const { return links_.cut(); }             ///< links that do not hold

    /// Each chain a contour of its own: [i] is that of chains()[i].
    std::vector<Placing> placings() const;
    /// Numbers and ranks of all pixels of the tile, each chain where `placings` has it.
    /// Throws    InvalidTask where there are not as many, or the planes do not hold the tile.
    void write(std::span<const Placing> placings, const RankPlanes& planes) const;

  private:
    struct OpenEntry {
        Elements pixel, before;
        Count at;
    };

    struct Links;
    struct Before;

    void prepare(const Tile& tile, ImageShape image);
    void follow_row(const LinkedRow& row, Elements y);
    Count follow(const Links& links, const Before& before, Elements x, Elements y);
    void note_border(const Links& links, Elements x, Elements y, Count at);
    void finish();
    Elements pixel(Elements x, Elements y) const {
        return (tile_.y + y) * image_.width + tile_.x + x;
    }
    std::uint64_t* bits(Elements y) const;
    Count* followed() const;
    Count* counts(Elements y);

    Tile tile_;
    ImageShape image_;
    Elements words_ = 0; ///< of bits in a row
    Elements points_ = 0;
    LinkedRows links_;
    Segments segments_;
    Memory counts_;   // [x] of a row and the one above, in turn
    Memory bits_;     // of every row, its points
    Memory followed_; // of every point, its Count
    std::vector<Chain> chains_;
    std::vector<Entry> entries_;
    std::vector<OpenEntry> open_entries_;
};

} // namespace sextant::kernel
