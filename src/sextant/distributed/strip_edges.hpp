// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/progress.hpp"
#include "sextant/distributed/strip_tiles.hpp"
#include "sextant/kernel/edge/edge_detector.hpp"

#include <string>

// Edges of an image that does not fit in memory: as distributed/canny.hpp, but strip by strip. All
// functions are collective. Planes of codes (kernel/edge/edge_vectors.hpp) are kept in scratch
// files next to `output`.
namespace sextant::distributed {

/// The context of each step.
struct StripWork {
    const Communicator& communicator;
    const StripTiles& tiles;
    const std::string& output;
    Progress& progress;
};

/// As quantiles_of(). Cost: the gradient is computed twice and not kept.
kernel::EdgeThresholds strip_quantiles(const StripWork& work, RowSource& source, double sigma,
                                       double low, double high);

/// Maxima of the gradient that are connected to a strong one. Cost: the gradient is computed once;
/// codes are labelled twice, because components are complete only after the last strip.
BytePlane strip_edges(const StripWork& work, RowSource& source, double sigma,
                      kernel::EdgeThresholds thresholds);

/// Thins edges to lines of one pixel. Each pass runs `rounds` rounds on one strip after another,
/// with the margin that they need; passes repeat until nothing changes.
BytePlane strip_thinning(const StripWork& work, BytePlane codes, int rounds = 4);

} // namespace sextant::distributed
