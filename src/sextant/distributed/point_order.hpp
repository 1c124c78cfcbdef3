// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/contour_lines.hpp"
#include "sextant/core/scratch_file.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sextant::distributed {

/// A point of a contour, as its tile knows it.
struct RankedPoint {
    Elements head = 0, pixel = 0;
    std::int32_t rank = 0;
    std::int32_t closed = 0; ///< 1: of a closed contour
};

/// The linear representation of contours that do not fit in memory: points come in any order, are
/// sorted by their heads and ranks, as many at a time as memory allows, and merged. Then contours
/// are read one after another.
///
/// Cost      of disk 24 bytes a point, then as much as 32 more; of memory what is allowed.
class PointOrder {
  public:
    /// Keeps what does not fit in `memory` beside `output`. Throws InvalidFile.
    PointOrder(const std::string& output, Bytes memory);

    void add(std::span<const RankedPoint> points);
    /// After the last ones: brings those contours that have as many points into their order.
    void finish(Elements min_points);

    /// Those that were brought into order.
    Elements contours() const { return contours_; }
    Elements points() const { return points_; }
    Elements closed() const { return closed_; }
    /// Reads them; this must outlive it.
    std::unique_ptr<LineReader> reader(ImageShape image) const;

  private:
    void write_run();
    template <class Take>
    void merge_runs(Take&& take);

    std::size_t most_; // points in memory
    std::vector<RankedPoint> run_;
    std::vector<Elements> ends_; // of runs, in points
    ScratchFile runs_, pixels_, lines_;
    Elements contours_ = 0, points_ = 0, closed_ = 0;
};

} // namespace sextant::distributed
