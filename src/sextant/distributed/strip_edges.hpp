// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/progress.hpp"
#include "sextant/distributed/strip_tiles.hpp"
#include "sextant/kernel/edge/edge_detector.hpp"

#include <string>

// Edges of an image that does not fit in memory: those of distributed/canny.hpp, strip by strip.
// All of these are collective; codes (kernel/edge/edge_vectors.hpp) lie in planes beside `output`.
namespace sextant::distributed {

/// What each step works with.
struct StripWork {
    const Communicator& communicator;
    const StripTiles& tiles;
    const std::string& output;
    Progress& progress;
};

/// As quantiles_of(). Cost  gradients twice, which are not kept.
kernel::EdgeThresholds strip_quantiles(const StripWork& work, RowSource& source, double sigma,
                                       double low, double high);

/// Maxima of the gradient that hang together with a strong one. Cost  gradients once; codes are
/// labelled twice, for what hangs together is known after the last strip.
BytePlane strip_edges(const StripWork& work, RowSource& source, double sigma,
                      kernel::EdgeThresholds thresholds);

/// Thinned to lines of one pixel: so many rounds of a strip at a time, with as many rows beside it
/// as they reach, again until nothing changes.
BytePlane strip_thinning(const StripWork& work, BytePlane codes, int rounds = 4);

} // namespace sextant::distributed
