// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/filter/float_plane.hpp"

namespace sextant::kernel {

/// The slopes of an image along x and y by central differences of fourth order,
/// (8 (f₁ − f₋₁) − (f₂ − f₋₂)) / 12, exact for polynomials of degree four.
///
/// Output    planes of the image's shape. NaN, for a slope that is not known, within two samples
///           of the border and in the padding beyond each row.
/// Requires  planes of the image's shape; std::logic_error otherwise.
/// Cost      eight reads a sample.
/// Deterministic  the same bits on every processor.
void slopes(const FloatImage& image, FloatPlane& along_x, FloatPlane& along_y);
/// Rows `first` to before `last` of the same.
void slopes_of_rows(const FloatImage& image, Elements first, Elements last, FloatPlane& along_x,
                    FloatPlane& along_y);

/// How many samples from the border slopes are not known.
inline constexpr Elements slope_reach = 2;

} // namespace sextant::kernel
