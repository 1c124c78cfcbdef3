// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/row_source.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/distributed/contour_merging.hpp"
#include "sextant/distributed/point_order.hpp"
#include "sextant/distributed/strip_tiles.hpp"
#include "sextant/kernel/edge/edge_detector.hpp"
#include "sextant/kernel/label/directions.hpp"

#include <functional>
#include <string>
#include <vector>

// Edges and contours of an image that does not fit in memory: like distributed/canny.hpp and
// distributed/contour_merging.hpp, but strip by strip. Every rank reads its tiles from its own
// source; rank 0 keeps planes of codes (kernel/edge/edge_vectors.hpp), lists and points in scratch
// files. All functions are collective and throw AgreedFailure, or Cancelled between strips.
namespace sextant::distributed {

/// The context that all steps share.
struct StripWork {
    const Communicator& communicator;
    const StripTiles& tiles;
    const std::string& scratch; ///< path for ScratchFile
    const RunControl& control;
};

/// Returns thresholds as quantiles_of() does. Cost: the gradient is computed twice and not stored.
kernel::EdgeThresholds strip_quantiles(const StripWork& work, RowSource& source, double sigma,
                                       double low, double high);

/// Returns the edges: maxima of the gradient that are connected to a strong maximum. Cost: the
/// gradient is computed once; codes are labelled twice, because components are complete only after
/// the last strip.
BytePlane strip_edges(const StripWork& work, RowSource& source, double sigma,
                      kernel::EdgeThresholds thresholds);

/// Thins edges to lines one pixel wide. Each pass runs `rounds` rounds on one strip after another,
/// with the margin that these rounds need; passes are repeated until nothing changes.
BytePlane strip_thinning(const StripWork& work, BytePlane codes, int rounds = 4);

/// Converts samples of a direction map (-1 no edge, -2 the head of a contour, 0 to 7 directions) to
/// codes, and writes these one after another to `to`.
/// Requires  rows without gaps between them.
/// Throws    InvalidFile for any other value, naming the map `path` and the pixel. Not collective.
void convert_directions(const kernel::SampleView& samples, const std::string& path,
                        kernel::Direction* to);

/// The width of the margin around a tile that ranking reads.
inline constexpr Elements ranking_margin = 2;

/// Returns the directions of this rank's tile of a strip, with `ranking_margin` pixels around it,
/// clipped to the image. Collective.
using StripDirections = std::function<std::vector<kernel::Direction>(int strip)>;

/// Returns the directions of thinned edges; `edges` must outlive the result.
StripDirections directions_of(const StripWork& work, const BytePlane& edges);
/// Returns the directions read from a direction map.
StripDirections directions_in(const StripWork& work, RowSource& source);

/// Computes heads and ranks of contours strip by strip: a pass down the image finds the crossings
/// of the seams, and a pass up computes the points, which rank 0 adds to `points`. Returns the
/// counts of the whole map.
/// Cost      every strip is ranked twice; 24 bytes per point of a strip.
Junctions rank_strips(const StripWork& work, const StripDirections& directions, PointOrder* points);

} // namespace sextant::distributed
