// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <cstdint>
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

} // namespace sextant::kernel
