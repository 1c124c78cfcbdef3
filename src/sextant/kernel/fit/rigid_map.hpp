// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/filter/float_plane.hpp"

namespace sextant::kernel {

/// Takes pixel (i, j) of one image to the place (x + cosine i − sine j, y + sine i + cosine j) of
/// another.
struct RigidMap {
    double cosine = 1, sine = 0;
    double x = 0, y = 0; ///< where pixel (0, 0) goes
};

/// Columns from `first` to before `last`.
struct Columns {
    Elements first = 0, last = 0;
};

/// The pixels among `columns` of a row that the map takes to within an image: between the middles
/// of its first and last pixels, along both axes, so that samples are interpolated, never
/// continued.
Columns columns_inside(const RigidMap& map, Elements row, Columns columns, ImageShape image);

/// Samples an image at where a map takes the pixels of another, bilinearly.
///
/// Input     an image of at least 2x2 pixels.
/// Output    `shape` samples, `outside` where the map leads out of the image. Places are exact to
///           about 10⁻⁶ pixels however large the image.
/// Cost      four reads a sample; where neighbours stay neighbours (small angles), four loads a
///           vector.
void warp(const FloatImage& image, const RigidMap& map, float outside, ImageShape shape, Plane to);
/// Rows `first` to before `last` of the same.
void warp_rows(const FloatImage& image, const RigidMap& map, float outside, ImageShape shape,
               Elements first, Elements last, Plane to);

/// One sample, from the definition. What warp() means, and is tested against.
/// Requires  an image of at least 2x2 pixels, a place within it.
double bilinear(const FloatImage& image, double x, double y);

} // namespace sextant::kernel
