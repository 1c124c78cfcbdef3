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

/// Columns [first, last).
struct Columns {
    Elements first = 0, last = 0;
};

/// The pixels among `columns` of a row whose mapped positions are inside an image, that is, between
/// the centres of its first and last pixels along both axes. Samples there are interpolated, never
/// extrapolated.
Columns columns_inside(const RigidMap& map, Elements row, Columns columns, ImageShape image);

/// Samples an image bilinearly at the mapped positions of another image's pixels.
///
/// Input     an image of at least 2x2 pixels.
/// Output    `shape` samples, with `outside` where the map leaves the image. Positions are accurate
///           to about 10⁻⁶ pixels, regardless of the image's size.
/// Cost      four reads per sample or, for small angles, four vector loads per vector.
void warp(const FloatImage& image, const RigidMap& map, float outside, ImageShape shape, Plane to);
/// Computes rows [first, last) of warp().
void warp_rows(const FloatImage& image, const RigidMap& map, float outside, ImageShape shape,
               Elements first, Elements last, Plane to);

/// Positions of consecutive pixels of a row in another image. With u = first + i, the position of
/// pixel i is (x·u + x_at + x_centre + x_shift, y·u + y_at + y_centre + y_shift), rounded after
/// each operation, from left to right.
struct RunPositions {
    double first = 0;
    double x = 1, x_at = 0, x_centre = 0, x_shift = 0;
    double y = 0, y_at = 0, y_centre = 0, y_shift = 0;
};

/// Samples an image bilinearly in double precision at `count` positions between the rows `upper`
/// and `lower`, where pixel i is between the samples i and i + 1.
///
/// Input     the position of sample 0 of `upper` is (left, top).
/// Output    (1 − v)((1 − u)a + ub) + v((1 − u)c + ud), rounded to floats; the same bits on every
///           processor.
/// Requires  count + 1 samples in each row.
void sample_run(const RunPositions& positions, const float* upper, const float* lower, double left,
                double top, Elements count, float* to);

/// One bilinear sample, computed from the definition. Tests compare warp() with it.
/// Requires  an image of at least 2x2 pixels, a position inside it.
double bilinear(const FloatImage& image, double x, double y);

/// A comparison of a template T, warped by a rigid map φ, with a reference R.
struct RigidComparison {
    FloatImage reference, moved;       ///< R and T, each of at least 5x5 pixels
    RigidMap map;                      ///< φ, from pixels of R to positions in T
    double centre_x = 0, centre_y = 0; ///< the centre of rotation, in pixels of R
    Elements row_step = 1; ///< use every row_step-th row of the tile, starting with the first
    bool gaps = false;     ///< samples may be NaN; such pixels are not included in the sums
};

/// The sums to compute. Each level includes the previous ones.
enum class Detail {
    score,  ///< the sums for the similarity and its gradient
    matrix, ///< adds RigidSums::jj
    slopes, ///< adds RigidSums::jd
};

/// Sums over the pixels x of R whose position φ(x) is inside T and whose gradient is known (it is
/// unknown within 2 pixels of R's border or of a NaN). A small motion ψ about the centre, with
/// parameters p = (α, t_x, t_y), is applied before φ. J is the derivative of R∘ψ with respect to p,
/// by fourth-order central differences of R. D is the derivative of T∘φ∘ψ with respect to p, by
/// bilinear interpolation of T. Both are taken at p = 0. Symmetric matrices are stored as (0,0)
/// (0,1) (0,2) (1,1) (1,2) (2,2).
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
/// Output    accumulated in single precision for a few rows at a time: errors are at most 10⁻⁵ of
///           the sums of the terms' magnitudes.
/// Requires  samples of magnitude about 1 and mean about 0, because otherwise differences of sums
///           lose precision; no NaN unless `gaps` is set.
/// Cost      per pixel: 9 reads of R, 4 of T; 14, 20 or 26 sums depending on detail.
/// Deterministic  the same bits on processors of the same kind.
RigidSums rigid_sums(const RigidComparison& comparison, const Tile& tile, Detail detail);

/// The part of a tile where R's gradient is known.
Tile with_slopes(const Tile& tile, ImageShape reference);

} // namespace sextant::kernel
