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

/// A point's number along its segment; its successor's is one more. Segment 0: no point.
struct Count {
    std::int32_t segment = 0, count = 0;
};

/// Segments of chains, which are found piece by piece and joined when one continues another: a
/// union-find in which each segment knows the offset of its counts from its parent's.
class Segments {
  public:
    /// The end and properties of a chain.
    struct Chain {
        Elements end = none;     ///< the pixel it ends at; of a closed one its first
        Elements first = none;   ///< its first pixel, row by row
        std::int32_t links = 0;  ///< from `first` to `end`; of a closed one all links
        std::int32_t points = 0; ///< its points; `end` is not counted if the chain
                                 ///< leaves the tile
        bool leaves = false, closed = false;
    };

    void clear() { segments_.assign(1, {}); }
    /// Adds a segment of one point with count 0.
    std::int32_t add(Elements pixel);
    /// Marks a point without a predecessor in the tile.
    void begin(Count at);
    /// Marks the last point of a chain, or the first one outside.
    void end(Count at, Elements pixel, bool leaves);
    /// Joins `follower`, which directly follows `at`; if both are on one chain, it becomes closed.
    void join(Count at, Count follower);

    /// Ends joining and computes the chains, in the order of their first segments.
    void finish();
    std::span<const Chain> chains() const { return chains_; }
    std::int32_t count() const { return static_cast<std::int32_t>(segments_.size()); }

    /// After finish(): the chain of a segment, and the links from its point with count 0 to the
    /// chain's end (of a closed one, to its first pixel, once or twice round).
    std::int32_t chain(std::int32_t segment) const { return segments_[at(segment)].chain; }
    std::int32_t links(std::int32_t segment) const { return segments_[at(segment)].links; }

  private:
    static constexpr Elements none = -1;

    struct Segment {
        std::int32_t parent = 0; ///< an earlier one on its chain, or itself
        std::int32_t offset = 0; ///< added to its counts, gives its parent's
        std::int32_t first = 0;  ///< the count at the beginning of the chain, if known here
        std::int32_t last = 0;   ///< the count at its end, if known here; points of a closed one
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

/// Converts counts of a segment to ranks: rank = links − count, less `period` if that is too large.
struct SegmentRanks {
    std::int32_t contour = 0, links = 0, period = 0;
};

/// A row of pixels that receive the numbers and ranks of its edge points.
struct RankRow {
    const std::uint64_t* points; ///< bits
    const Count* counts;         ///< of the points, in order
    const SegmentRanks* ranks;   ///< [segment]
    std::int32_t* contours_to;
    std::int32_t* ranks_to;
    Elements width;
    bool stream; ///< bypass the caches; both are aligned to `stream_alignment`
};

/// Returns the number of points in the row.
Elements write_ranks(const RankRow& row);

/// A contour, or a connected part of one in a tile.
struct Chain {
    Elements end = 0;      ///< the pixel (y · width + x) it ends at: its head, or the one outside
                           ///< the tile that follows its last point
    Elements smallest = 0; ///< its smallest pixel
    Elements links = 0;    ///< from `smallest` to `end`
    Elements points = 0;   ///< in the tile
    bool leaves = false;   ///< `end` is outside the tile
    bool closed = false;   ///< it has no end; its head is its smallest pixel
};

/// A point that is entered from outside the tile: the first of its chain.
struct Entry {
    Elements pixel = 0;
    Elements before = 0;    ///< the pixel outside that it follows
    Elements links = 0;     ///< to the end of its chain
    std::int32_t chain = 0; ///< its number
};

/// Places a tile's chain on a contour: rank = (links to the chain's end + `beyond`) mod `period`.
struct Placing {
    std::int32_t contour = 0;   ///< its number
    std::int32_t beyond = 0;    ///< links from the chain's end to the contour's head
    std::int32_t period = open; ///< the number of points of a closed contour

    static constexpr std::int32_t open = std::numeric_limits<std::int32_t>::max();
};

/// The destination of contour numbers and ranks; −1 for pixels that are not edge points.
struct RankPlanes {
    std::int32_t* contours = nullptr;
    std::int32_t* ranks = nullptr;
    Elements stride = 0; ///< of both
};

/// Ranks the contours of a direction map or a tile of one: finds for every edge point the head of
/// its contour and the number of links to it. Works row by row in one pass instead of following
/// contours: consecutive points in adjacent rows share a segment and are numbered along it; where
/// segments meet they are joined, with the difference of their counts.
///
/// If several points are followed by the same one, the link with the lowest direction is kept, and
/// the other points become heads.
///
/// Input     directions; of a tile, also those within 2 pixels of it inside the image.
/// Output    chains in the order of their first pixels, row by row; entries; planes.
/// Requires  links to edge points of the image, codes from −2 to 7, a tile of fewer than 2³¹ pixels
///           within the image; otherwise throws InvalidTask that names a pixel.
/// Cost      O(pixels / lanes + points); keeps 8 bytes per point and 40 per segment. `apply`
///           allocates only for tiles larger than before. Use one object per thread.
/// Deterministic  the same for any tiling of the image.
class ContourRanking {
  public:
    void apply(const DirectionView& input, const Tile& tile);

    std::span<const Chain> chains() const { return chains_; }
    std::span<const Entry> entries() const { return entries_; }
    Elements points() const { return points_; }
    Elements junctions() const { return links_.junctions(); } ///< points with several predecessors
    Elements cut() const { return links_.cut(); }             ///< links that are not kept

    /// Makes each chain a separate contour: [i] is the placing of chains()[i].
    std::vector<Placing> placings() const;
    /// Writes numbers and ranks of all pixels of the tile, with chains placed by `placings`.
    /// Throws    InvalidTask if their number differs, or the planes do not hold the tile.
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
    Elements words_ = 0; ///< words of bits per row
    Elements points_ = 0;
    LinkedRows links_;
    Segments segments_;
    Memory counts_;   // [x] of the current row and the one above, alternating
    Memory bits_;     // of every row, its points
    Memory followed_; // of every point, its Count
    std::vector<Chain> chains_;
    std::vector<Entry> entries_;
    std::vector<OpenEntry> open_entries_;
};

} // namespace sextant::kernel
