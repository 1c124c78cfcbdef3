// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/thread_team.hpp"
#include "sextant/kernel/fit/rigid_map.hpp"
#include "sextant/registration/pair/motion.hpp"
#include "sextant/registration/pair/pyramid.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>

namespace sextant::registration {

/// Converts a motion about a centre to the kernels' form.
kernel::RigidMap map_of(const RigidMotion& motion, Point centre);

/// Two images to be registered, each roughly normalised, and the centre of rotation.
struct Images {
    kernel::FloatImage reference, moved;
    Point centre;
    bool gaps = false;     ///< true if either may contain NaN; such pixels are ignored
    bool inverted = false; ///< the images have opposite contrast: T is compared as −T
};

/// Returns a level of two pyramids and its centre: that of the frames, scaled to the level.
Images images_of(const Pyramid& reference, const Pyramid& moved, int level, bool inverted = false);

/// The division of an image into square tiles; those at the right and at the bottom may be smaller.
struct Tiling {
    ImageShape image;
    Elements side;

    ImageShape tiles() const {
        return {(image.width + side - 1) / side, (image.height + side - 1) / side};
    }
    Tile at(Elements column, Elements row) const {
        const Elements x = column * side, y = row * side;
        return {x, y, std::min(side, image.width - x), std::min(side, image.height - y)};
    }
};

/// Returns the sums over all tiles.
kernel::RigidSums total_of(std::span<const kernel::RigidSums> tiles);

/// The similarity of two images over their overlap.
struct Similarity {
    double ncc = 0;   ///< normalised cross-correlation, −1 to 1; 0 if an image is constant
    double scale = 1; ///< k = ±σ_R/σ_T, by which T is multiplied to compare it with R
    double mean_r = 0, mean_t = 0;
};

/// With `inverted`, the images are R and −T.
Similarity similarity(const kernel::RigidSums& sums, bool inverted = false);

/// Returns the largest NCC to be expected of two images of pure noise that overlap in `pixels`
/// pixels, after a Gaussian filter of `sigma`.
double ncc_of_noise(double pixels, double sigma);

/// The score ΣJe with e = k(T∘φ − T̄) − (R − R̄): the derivative of the squared difference with
/// respect to a small motion applied before φ (kernel::RigidSums). The similarity may be that of a
/// larger region.
struct Score {
    double by[3] = {};
};

Score score(const kernel::RigidSums& sums, const Similarity& similarity);

/// Returns the kernels' arguments for comparing two images at a motion.
kernel::RigidComparison compare_at(const Images& images, const RigidMotion& motion,
                                   Elements row_step = 1);

/// Returns the sums over whole images, accumulated over bands of rows.
/// Deterministic  The bits do not depend on the number of threads.
kernel::RigidSums sums_over(const Images& images, const RigidMotion& motion, kernel::Detail detail,
                            Elements row_step = 1, Team* team = nullptr);

/// A step: a small motion, whose inverse is applied before φ, and the expected length of the next
/// step relative to this one.
struct NewtonStep {
    RigidMotion motion;
    double left = 1;
};

/// Returns the step to where the score is expected to vanish; none if R's gradients do not
/// determine it.
///
/// The derivative of the score is k ΣJD, if this was summed and the images fit well enough; the
/// error after a step is then a few hundredths of the step's length. Otherwise ΣJJᵀ is used, which
/// includes the gradients of R's noise and makes steps too short, by 40 % at a dose of 10 electrons
/// per pixel.
std::optional<NewtonStep> newton_step(const kernel::RigidSums& sums, const Similarity& alike);

/// Returns the minimum number of R's pixels that must be within T for the two to be compared.
double least_count(ImageShape reference, Elements row_step);

struct FitOptions {
    int most_steps = 30;
    double stop = .002;    ///< converged if the next step is expected to be shorter (RMS, pixels)
    Elements row_step = 1; ///< every row_step-th row is used
    kernel::Detail detail = kernel::Detail::matrix; ///< with `slopes`, steps are fewer but costlier
};

struct Fit {
    RigidMotion motion;
    double ncc = -1; ///< over the overlap, at the last evaluation
    int steps = 0;
    bool converged = false;
    double count = 0;      ///< number of R's pixels within T at the last evaluation
    bool inverted = false; ///< as Images::inverted
};

/// Finds the motion near a start at which the score vanishes, by inverse-compositional Gauss-Newton
/// steps on the squared difference over the overlap.
///
/// Only R's gradient is used. T's noise is then multiplied by factors independent of it, so there
/// is no bias towards motions at which interpolation smooths most; maximising NCC has this bias.
///
/// Output    not converged if the steps did not shrink, the overlap fell below a tenth of R, or R
///           does not determine a parameter; the motion is then the last one tried.
/// Cost      kernel::rigid_sums() over the overlap for each step.
/// Deterministic  The same bits on the same kind of processor, for any number of threads.
/// Source    Baker and Matthews, IJCV 56, 2004, doi:10.1023/B:VISI.0000011205.11775.fd
Fit fit(const Images& images, const RigidMotion& start, const FitOptions& options,
        Team* team = nullptr);

/// The standard deviations of a motion's parameters (radians, pixels), and their covariance row by
/// row.
struct RigidUncertainty {
    double alpha = 0, tx = 0, ty = 0;
    std::array<double, 9> covariance{};
};

/// Returns the uncertainty of a motion whose (alpha, tx, ty) have this covariance.
RigidUncertainty uncertainty_with(const std::array<double, 9>& covariance);

/// Scales the sums of a tile by its weight, 0 to 1. Noise gradients add to a score without
/// depending on the motion, so tiles that show only noise, such as those between particles, have
/// weight 0. ΣJD is not biased by noise; a tile has full weight if its ΣJD is at least a third of
/// its ΣJJᵀ. `inverted` is Images::inverted.
void weigh_tile(kernel::RigidSums& tile, bool inverted = false);

/// Estimates the uncertainty by the sandwich estimator H⁻¹VH⁻¹. H is the derivative of the score
/// with respect to the motion, from the gradients of both frames, whose noise is independent. V is
/// the sum of the outer products of the tiles' scores; filtered noise is hardly correlated between
/// tiles. The result is infinite if the frames do not determine the motion.
///
/// Input     the tiles' sums with slopes at the motion found, the sums of all tiles and their
///           similarity, and the motion's angle.
RigidUncertainty uncertainty_of(std::span<const kernel::RigidSums> tiles,
                                const kernel::RigidSums& all, const Similarity& alike,
                                double alpha);

/// Sums over pairs of tiles from which the covariance of their displacements follows.
struct TileCovariance {
    /// Σ s_i s_j, Σ h_i h_j and Σ (s_i s_j)² of the tiles' scores s and their derivatives h.
    float products = 0, slopes = 0, squares = 0;

    TileCovariance& operator+=(const TileCovariance& other);
    /// The covariance, pixels².
    double value() const;
    /// The covariance in units of the standard deviation that noise causes.
    double deviations() const;
    /// The standard deviation of the covariance that noise causes.
    double noise() const;
};

/// Evidence that parts of a frame have moved relative to one another, beyond the motion found. The
/// noise of different tiles is independent, so the products of the displacements that their scores
/// imply have a mean of 0, however strong the noise is; displacements that tiles have in common add
/// to it. Adjacent tiles are not compared, because the filter correlates their noise.
struct Misfit {
    TileCovariance smooth; ///< of tiles two apart along an axis
    TileCovariance rows;   ///< of displacements to the right in tiles of the same rows
    TileCovariance down;   ///< of displacements to the right in tiles two apart in the same column

    Misfit& operator+=(const Misfit& other);
    /// True if the displacements depend on the row only, and change from row to row.
    bool is_of_rows() const;
    /// The RMS displacement of parts of the frame, pixels; of the means of the rows of a tile if
    /// is_of_rows().
    double pixels() const;
    /// The evidence for it, in standard deviations of what noise causes.
    double deviations() const;
};

/// The motions that remain within the frames of a series.
struct SeriesMisfit {
    bool significant = false; ///< noise does not explain them, and they matter
    bool of_rows = false;     ///< Misfit::is_of_rows()
    double pixels = 0, deviations = 0;
};

/// Adds the evidence of frames. Motions are significant if they exceed noise by five standard
/// deviations, to which at least three frames contribute, or all if there are fewer, and are at
/// least .03 pixels (RMS).
///
/// Input     the misfits of frames; `shared`: the fraction of a frame's noise that all frames have
///           in common, because they were registered to the same frame.
SeriesMisfit misfit_of_series(std::span<const Misfit> frames, double shared);

/// Compares the tiles of a registration.
///
/// Input     the tiles' sums with slopes at the motion found, weighted by weigh_tile(), row by row;
///           their similarity, and the number of parameters that were fitted.
Misfit misfit_of(std::span<const kernel::RigidSums> tiles, ImageShape count,
                 const Similarity& alike, std::size_t parameters);

} // namespace sextant::registration
