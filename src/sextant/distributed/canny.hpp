// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/contour/catalogue.hpp"
#include "sextant/distributed/image.hpp"
#include "sextant/distributed/window_filter.hpp"
#include "sextant/kernel/edge/canny.hpp"

#include <functional>

namespace sextant {

/// The gradient of an image that lies in tiles, in the same tiles, of gray_f32.
struct Gradient {
    distributed::Image x, y;
};

inline constexpr ElementFormat direction_i8{"direction i8", sizeof(kernel::Direction)};

/// By Gaussian derivatives (gaussian_derivatives()). Collective.
Gradient gradient_of(const distributed::Image& image, double sigma,
                     const kernel::BorderRule& border = {});

/// Throws InvalidTask unless 0 ≤ low ≤ high ≤ 1.
void require_edge_quantiles(double low, double high);

/// Thresholds below which lie these shares of all pixels' gradients, by length.
/// Requires  0 ≤ low ≤ high ≤ 1; otherwise every rank throws AgreedFailure.
/// Collective.
/// Deterministic  the same for every grid.
kernel::EdgeThresholds quantiles_of(const Gradient& gradient, double low, double high);

/// The same of the gradient at `sigma`, which is not kept: 4 bytes a pixel are.
/// Requires  a sigma as kernel::GaussianDerivatives too.
kernel::EdgeThresholds quantiles_of(const distributed::Image& image, double sigma, double low,
                                    double high);

/// Canny's edges of an image in tiles as a map of directions: maxima of the gradient
/// (kernel::find_edges), of those what hangs together with a strong one, thinned to lines of one
/// pixel (kernel::Thinning), each followed by the next along the edge (kernel::find_directions).
///
/// Hysteresis goes across tiles as components do: by `pattern`.
///
/// Output    elements of direction_i8, for ContourRanking.
/// Cost      2 bytes a pixel, and what is kept of edges.
/// Requires  thresholds 0 ≤ low ≤ high; otherwise every rank throws AgreedFailure.
/// Collective.
/// Deterministic  the same for every grid, pattern and number of ranks: kernel::canny_reference().
/// Source    Canny, IEEE TPAMI 8(6), 1986, doi:10.1109/TPAMI.1986.4767851
distributed::Image edge_directions(const Gradient& gradient, kernel::EdgeThresholds thresholds,
                                   const contour::Pattern& pattern);

/// By which pattern hysteresis is merged, once this rank knows how many entries its list has. All
/// ranks ask at once, and must be told the same.
using PatternForEntries = std::function<const contour::Pattern&(Elements entries)>;
PatternForEntries always(const contour::Pattern& pattern);

/// The same of an image's gradient at `sigma` (kernel::EdgeFinder), which is not kept.
/// Requires  a sigma as kernel::GaussianDerivatives, samples of gray_f32, gray_u8 or gray_u16 too.
distributed::Image edge_directions(const distributed::Image& image, double sigma,
                                   kernel::EdgeThresholds thresholds,
                                   const PatternForEntries& pattern);

} // namespace sextant
