// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/distributed/image.hpp"
#include "sextant/distributed/window_filter.hpp"

#include <vector>

namespace sextant {

/// Gaussian derivatives, and what is made of them, of an image that lies in tiles: an image each,
/// in the same tiles.
///
/// Input     samples of gray_f32, gray_u8 or gray_u16; in `filter` the scale, the features ("x",
///           "xy", "gradient-magnitude": kernel::find_feature), what is seen beyond the border, and
///           which weights stand for the Gaussian: those of scipy.ndimage unless others are named.
/// Output    images of gray_f32, in the order of the features.
/// Requires  as kernel::FilterBank; otherwise every rank throws AgreedFailure.
/// Collective.
/// Cost      pixels around tiles travel while the inner ones are computed.
/// Deterministic  the same bits for every grid and any number of ranks, threads or processes.
/// Source    Seinstra and Koelma, IEEE TPDS 13(7), 2002, section 4
std::vector<distributed::Image> gaussian_derivatives(const distributed::Image& image,
                                                     const distributed::Filter& filter);

/// The same into planes that the caller keeps: images that an earlier call made on the same grid
/// from as many features are written again, with all their copies; other images are replaced by new
/// ones. New memory takes as long as much of the filtering, so programs with many images keep it.
void gaussian_derivatives(const distributed::Image& image, const distributed::Filter& filter,
                          std::vector<distributed::Image>& planes);

} // namespace sextant
