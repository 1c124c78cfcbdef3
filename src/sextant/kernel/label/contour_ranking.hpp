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

/// The position of a point on its segment; the count of its successor is one larger. Segment 0
/// means no point.
struct Count {
    std::int32_t segment = 0, count = 0;
};

/// The segments of chains, in a union-find structure. Segments that continue each other are joined;
/// each segment stores the offset from its counts to its parent's counts.
class Segments {
  public:
    /// A chain of linked points: its first pixel, its end and its length.
    struct Chain {
        Elements end = none;     ///< the pixel where the chain ends; if closed, the first pixel
        Elements first = none;   ///< the first pixel in row order
        std::int32_t links = 0;  ///< links from `first` to `end`; if closed, all links
        std::int32_t points = 0; ///< number of points, without `end` if the chain leaves the tile
        bool leaves = false, closed = false;
    };

    void clear() { segments_.assign(1, {}); }
    /// Adds a segment of one point with count 0.
    std::int32_t add(Elements pixel);
    /// Marks a point without a predecessor in the tile.
    void begin(Count at);
    /// Marks the last point of a chain or, if the chain leaves the tile, the first point outside.
    void end(Count at, Elements pixel, bool leaves);
    /// Joins the segments of a point and of its successor `follower`. If both are on the same
    /// chain, the chain becomes closed.
    void join(Count at, Count follower);

    /// Computes the chains, in the order of their first segments. Call after the last join().
    void finish();
    std::span<const Chain> chains() const { return chains_; }
    std::int32_t count() const { return static_cast<std::int32_t>(segments_.size()); }

    /// Call after finish(). chain(): the number of a segment's chain. links(): the number of links
    /// from the segment's point with count 0 to the chain's end; in a closed chain, to its first
    /// pixel, going round the chain once or twice.
    std::int32_t chain(std::int32_t segment) const { return segments_[at(segment)].chain; }
    std::int32_t links(std::int32_t segment) const { return segments_[at(segment)].links; }

  private:
    static constexpr Elements none = -1;

    struct Segment {
        std::int32_t parent = 0; ///< an earlier segment of the same chain, or this one
        std::int32_t offset = 0; ///< added to the segment's counts to get the parent's
        std::int32_t first = 0;  ///< count of the chain's first point, if `begins`
        /// Count at the chain's end, if `end` is set; if closed, number of points.
        std::int32_t last = 0;
        Elements pixel = none; ///< the segment's first pixel
        Elements end = none;
        bool begins = false, leaves = false, closed = false;
        std::int32_t chain = 0, links = 0;
    };

    static std::size_t at(std::int32_t segment) { return static_cast<std::size_t>(segment); }
    Count in_root(Count at);

    std::vector<Segment> segments_;
    std::vector<Chain> chains_;
};

/// Converts counts of a segment to ranks: rank = (links − count) mod period, where the difference
/// is less than twice the period.
struct SegmentRanks {
    std::int32_t contour = 0, links = 0, period = 0;
};

/// A row of pixels, to which the contour numbers and ranks of its edge points are written.
struct RankRow {
    const std::uint64_t* points; ///< bit mask of the edge points
    const Count* counts;         ///< counts of the edge points, in order
    const SegmentRanks* ranks;   ///< one entry per segment
    std::int32_t* contours_to;
    std::int32_t* ranks_to;
    Elements width;
    bool stream; ///< bypass the caches; both outputs are aligned to `stream_alignment`
};

/// Returns the number of points in the row.
Elements write_ranks(const RankRow& row);

/// A contour, or a connected part of one in a tile.
struct Chain {
    /// The pixel (y · width + x) where the chain ends: its head, or the pixel outside the tile that
    /// follows its last point.
    Elements end = 0;
    Elements smallest = 0; ///< the chain's first pixel in row order
    Elements links = 0;    ///< number of links from `smallest` to `end`
    Elements points = 0;   ///< number of points in the tile
    bool leaves = false;   ///< true if `end` is outside the tile
    bool closed = false;   ///< true if the chain has no end; its head is `smallest`
};

/// A point whose predecessor is outside the tile: the first point of its chain.
struct Entry {
    Elements pixel = 0;
    Elements before = 0;    ///< the point's predecessor, outside the tile
    Elements links = 0;     ///< number of links to the end of the chain
    std::int32_t chain = 0; ///< number of the chain
};

/// The position of a tile's chain on a contour: the rank of a point is (links to the chain's end +
/// `beyond`) mod `period`.
struct Placing {
    std::int32_t contour = 0;   ///< number of the contour
    std::int32_t beyond = 0;    ///< links from the chain's end to the contour's head
    std::int32_t period = open; ///< the number of points of a closed contour

    static constexpr std::int32_t open = std::numeric_limits<std::int32_t>::max();
};

/// The destination of contour numbers and ranks; −1 for pixels that are not edge points.
struct RankPlanes {
    std::int32_t* contours = nullptr;
    std::int32_t* ranks = nullptr;
    Elements stride = 0; ///< distance between rows, in both planes
};

/// Ranks the contours of a direction map or a tile of one: finds for every edge point the head of
/// its contour and the number of links to it. Works row by row in one pass instead of following
/// contours: consecutive points in adjacent rows share a segment and are numbered along it; where
/// segments meet they are joined, and the difference of their counts is stored.
///
/// If several points have the same successor, only the link with the lowest direction is kept, and
/// the other points become heads.
///
/// Input     directions; of a tile, also those within 2 pixels of it inside the image.
/// Output    chains in the order of their first pixels, row by row; entries; by write(), planes of
///           contour numbers and ranks.
/// Requires  links to edge points of the image, codes from −2 to 7, a tile of fewer than 2³¹ pixels
///           within the image; otherwise throws InvalidTask, naming a pixel.
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
    /// Writes the contour numbers and ranks of all pixels of the tile, with chains placed by
    /// `placings`.
    /// Throws    InvalidTask unless there is one placing per chain and the planes have room for the
    ///           tile.
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
    Memory counts_;   // counts of the current row and of the row above, alternately
    Memory bits_;     // the points of every row, as bits
    Memory followed_; // the Count of every point, in order
    std::vector<Chain> chains_;
    std::vector<Entry> entries_;
    std::vector<OpenEntry> open_entries_;
};

} // namespace sextant::kernel
