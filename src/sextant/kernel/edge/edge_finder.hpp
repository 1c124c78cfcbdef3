// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/edge/canny.hpp"
#include "sextant/kernel/filter/gaussian.hpp"

namespace sextant::kernel {

/// Edges of an image by its Gaussian derivatives, which are kept nowhere: strip by strip, rows of
/// the gradient become rows of edges while they are in the nearest cache.
///
/// Input     samples that hold the tile and `margin()` pixels around it, as far as the image goes,
///           in pieces that do not overlap; beyond the image the border is replicated.
/// Output    as find_edges() of the derivatives.
/// Requires  a sigma as GaussianDerivatives, a tile within the image, samples that hold what it
///           reads, thresholds 0 ≤ low ≤ high; otherwise throws InvalidTask.
/// Cost      the derivatives', and O(pixels / lanes); memory is read once and written once, a byte
///           a pixel. One object a thread.
/// Deterministic  the same however the image is cut, on every processor.
class EdgeFinder {
  public:
    explicit EdgeFinder(double sigma);

    Elements margin() const { return derivatives_.reach_x() + 1; }

    void find(SamplePieces input, const Tile& tile, EdgeThresholds thresholds,
              const EdgePlane& codes);
    /// The length of each gradient of the tile, row by row.
    void measure(SamplePieces input, const Tile& tile, float* to);

  private:
    template <class Body>
    void each_strip(const Tile& tile, Body&& body) const;

    GaussianDerivatives derivatives_;
};

} // namespace sextant::kernel
