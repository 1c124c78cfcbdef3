// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/kernel/filter/float_plane.hpp"

namespace sextant::kernel {

/// Maps pixel (i, j) to position (x + cosine i − sine j, y + sine i + cosine j) of another image.
struct RigidMap {
    double cosine = 1, sine = 0;
    double x = 0, y = 0; ///< the position of pixel (0, 0)
};

/// Columns from `first` to before `last`.
struct Columns {
    Elements first = 0, last = 0;
};

/// The pixels among `columns` of a row that the map takes inside an image: between the centres of
/// its first and last pixels along both axes, so that samples are interpolated, never extrapolated.
Columns columns_inside(const RigidMap& map, Elements row, Columns columns, ImageShape image);

/// Samples an image bilinearly at the mapped positions of another image's pixels.
///
/// Input     an image of at least 2x2 pixels.
/// Output    `shape` samples, with `outside` where the map leaves the image. Positions are exact to
///           about 10⁻⁶ pixels, however large the image.
/// Cost      four reads per sample; for small angles, four loads per vector.
void warp(const FloatImage& image, const RigidMap& map, float outside, ImageShape shape, Plane to);
/// Rows `first` to before `last` of warp().
void warp_rows(const FloatImage& image, const RigidMap& map, float outside, ImageShape shape,
               Elements first, Elements last, Plane to);

/// One bilinear sample, from the definition. The reference that warp() is tested against.
/// Requires  an image of at least 2x2 pixels, a position inside it.
double bilinear(const FloatImage& image, double x, double y);

/// A comparison of a template T, seen through a rigid map φ, with a reference R.
struct RigidComparison {
    FloatImage reference, moved;       ///< R and T, each of at least 5x5 pixels
    RigidMap map;                      ///< φ, from pixels of R to positions in T
    double centre_x = 0, centre_y = 0; ///< in R: the centre of rotation
    Elements row_step = 1; ///< use every row_step-th row of the tile, starting with the first
    bool gaps = false;     ///< samples may be NaN; sums leave these out
};

/// The sums to compute. Each adds to the previous ones.
enum class Detail {
    score,  ///< the similarity, and its gradient
    matrix, ///< jj
    slopes, ///< jd
};

/// Sums over the pixels x of R with a position φ(x) inside T and a known gradient (pixels within 2
/// of R's border, or of a gap, have none). A small motion ψ about the centre, with parameters p =
/// (α, t_x, t_y), is applied before φ. J is the derivative of R∘ψ by p, with fourth-order central
/// differences of R, and D that of T∘φ∘ψ, with T bilinear, both at p = 0. Symmetric matrices are
/// stored as (0,0) (0,1) (0,2) (1,1) (1,2) (2,2).
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
/// Output    single precision for a few rows at a time: within 10⁻⁵ of the sums of magnitudes.
/// Requires  samples of magnitude about 1 and mean about 0, as otherwise differences of sums lose
///           digits; no NaN unless `gaps` is set.
/// Cost      per pixel: 9 reads of R, 4 of T; 14, 20 or 26 sums depending on detail.
/// Deterministic  the same bits on the same kind of processor.
RigidSums rigid_sums(const RigidComparison& comparison, const Tile& tile, Detail detail);

/// The part of a tile where R's gradient is known.
Tile with_slopes(const Tile& tile, ImageShape reference);

} // namespace sextant::kernel
