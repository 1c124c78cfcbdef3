// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
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

/// A look at how well a template T, seen through a rigid map φ, fits a reference R.
struct RigidLook {
    FloatImage reference, moved;       ///< R and T, each of at least 5x5 pixels
    RigidMap map;                      ///< φ, from pixels of R to places of T
    double centre_x = 0, centre_y = 0; ///< in R: what angles turn about
    Elements row_step = 1; ///< of the tile's rows, the first and then every so manyth counts
    bool gaps = false;     ///< whether samples may be NaN: what they enter does not count
};

/// What sums are wanted. Each adds to the ones before.
enum class Detail {
    score,  ///< the similarity, and its slope
    matrix, ///< jj
    slopes, ///< jd
};

/// Sums over the pixels x of R whose place φ(x) lies in T and whose own slope is known (those 2
/// from R's border, or from a gap, have none). Before φ is put a small motion ψ about the centre,
/// of parameters p = (α, t_x, t_y). Then J is the derivative of R∘ψ, with fourth-order central
/// differences of R, and D that of T∘φ∘ψ, with T bilinear, both at p = 0. Symmetric matrices by the
/// places (0,0) (0,1) (0,2) (1,1) (1,2) (2,2).
struct RigidSums {
    double count = 0;
    double r = 0, t = 0;                      ///< ΣR, ΣT∘φ
    double rr = 0, tt = 0, rt = 0;            ///< ΣR², Σ(T∘φ)², ΣR(T∘φ)
    double j[3] = {}, jr[3] = {}, jt[3] = {}; ///< ΣJ, ΣJR, ΣJ(T∘φ)
    double jj[6] = {};                        ///< ΣJJᵀ
    double jd[6] = {};                        ///< Σ(JDᵀ + DJᵀ)/2

    RigidSums& operator+=(const RigidSums& other);
};

/// The sums over a tile of R.
/// Output    in single precision a few rows at a time: within 10⁻⁵ of the sums of magnitudes.
/// Requires  samples of magnitude about 1 and mean about 0, or the differences of sums lose digits;
///           none that is NaN unless `gaps` says that there may be.
/// Cost      a pixel: 9 reads of R, 4 of T; 14, 20 or 26 sums by detail.
/// Deterministic  the same bits again on the same kind of processor.
RigidSums rigid_sums(const RigidLook& look, const Tile& tile, Detail detail);

/// The part of a tile where R's slope is known.
Tile with_slopes(const Tile& tile, ImageShape reference);

} // namespace sextant::kernel
