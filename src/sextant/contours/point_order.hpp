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

/// A point of a contour: its pixel and rank, and the head of the contour.
struct RankedPoint {
    Elements head = 0, pixel = 0;
    std::int32_t rank = 0;
    std::int32_t closed = 0; ///< 1 if the point's contour is closed
};

/// The linear representation of contours that do not fit in memory. Points are added in any order;
/// an external merge sort orders them by head and rank. Then contours are read one after another.
///
/// Cost      disk: 24 bytes per point, then up to 32 more; memory: the amount passed to the
///           constructor.
class PointOrder {
  public:
    /// Creates scratch files in the folder of `scratch`. Throws InvalidFile.
    PointOrder(const std::string& scratch, Bytes memory);

    void add(std::span<const RankedPoint> points);
    /// Sorts the points and keeps contours of at least `min_points` points. Call finish() after the
    /// last point.
    void finish(Elements min_points);
    /// Simplifies the contours (kernel/label/line_simplification.hpp).
    /// Requires  a previous call of finish().
    void simplify(ImageShape image, double tolerance);

    /// Counts of the kept contours.
    Elements contours() const { return contours_; }
    Elements points() const { return points_; }
    Elements closed() const { return closed_; }
    /// Returns a reader of the kept contours. This object must outlive the reader.
    std::unique_ptr<LineReader> reader(ImageShape image) const;

  private:
    void write_run();
    template <class Take>
    void merge_runs(Take&& take);

    std::string scratch_;
    std::size_t most_; // maximum number of points in memory
    std::vector<RankedPoint> run_;
    std::vector<Elements> ends_; // end of each run, in points
    ScratchFile runs_, pixels_, lines_;
    Elements contours_ = 0, points_ = 0, closed_ = 0;
};

} // namespace sextant::distributed
