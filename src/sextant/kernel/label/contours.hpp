// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/memory.hpp"
#include "sextant/kernel/label/linked_rows.hpp"
#include "sextant/kernel/label/segments.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace sextant::kernel {

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
