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

/// Converts a motion about a centre to the form that kernels use.
kernel::RigidMap map_of(const RigidMotion& motion, Point centre);

/// Two images to be registered, each roughly normalised, and the centre of rotation.
struct Images {
    kernel::FloatImage reference, moved;
    Point centre;
    bool gaps = false;     ///< true if either image may contain NaN; such pixels are ignored
    bool inverted = false; ///< true if the images have opposite contrast: −T is compared with R
};

/// Returns one level of two pyramids, with the centre of the frames scaled to that level.
Images images_of(const Pyramid& reference, const Pyramid& moved, int level, bool inverted = false);

/// The division of an image into square tiles. Tiles at the right and bottom edges may be smaller.
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

/// Returns the tiles from which the uncertainty of a frame is estimated: large enough for their
/// noise to be hardly correlated, but small enough that several fit into the frame.
Tiling tiling_of(ImageShape frame);

/// Returns the fraction of the variance of a sum over noise, filtered by a Gaussian of `sigma`,
/// that remains if the correlation of adjacent tiles is ignored; 1 except for the smallest tiles.
double noise_within_tiles(const Tiling& tiling, double sigma);

/// Returns the sums over all tiles.
kernel::RigidSums total_of(std::span<const kernel::RigidSums> tiles);

/// The similarity of two images over their overlap.
struct Similarity {
    double ncc = 0;   ///< normalised cross-correlation, −1 to 1; 0 if an image is constant
    double scale = 1; ///< k = ±σ_R/σ_T, the factor that matches T to R
    double mean_r = 0, mean_t = 0;
};

/// With `inverted`, the images are R and −T.
Similarity similarity(const kernel::RigidSums& sums, bool inverted = false);

/// Returns the number of unfiltered pixels that carry as much independent noise as `pixels` pixels
/// after a Gaussian filter of `sigma`; at least 1.
double independent_pixels(double pixels, double sigma);

/// Returns the largest NCC expected between two images of pure noise that overlap in `pixels`
/// pixels, after a Gaussian filter of `sigma`.
/// Source    Fisher, Metron 1, 1921: atanh(NCC) is nearly normal
double ncc_of_noise(double pixels, double sigma);

/// True if an NCC is lower than another one by more than noise explains. Both are NCCs of images
/// that overlap in `pixels` pixels, after a Gaussian filter of `sigma`.
bool is_lower_ncc(double ncc, double other, double pixels, double sigma);

/// The score ΣJe with e = k(T∘φ − T̄) − (R − R̄): the derivative of the squared difference with
/// respect to a small motion applied before φ (kernel::RigidSums). The similarity may be computed
/// over a larger region.
struct Score {
    double by[3] = {};
};

Score score(const kernel::RigidSums& sums, const Similarity& similarity);

/// Returns the kernels' arguments for comparing two images at a motion.
kernel::RigidComparison compare_at(const Images& images, const RigidMotion& motion,
                                   Elements row_step = 1);

/// Returns the sums over whole images, accumulated over bands of rows.
/// Deterministic  the bits do not depend on the number of threads.
kernel::RigidSums sums_over(const Images& images, const RigidMotion& motion, kernel::Detail detail,
                            Elements row_step = 1, Team* team = nullptr);

/// A step φ ← φ ∘ ψ⁻¹, with the expected length of the next step relative to this one.
struct NewtonStep {
    RigidMotion motion;
    double left = 1;
};

/// Returns the step after which the score is expected to vanish; nothing if R's gradients do not
/// determine the step.
///
/// The derivative of the score is k ΣJD, if ΣJD was summed and the images fit well enough. The
/// error after a step is then a few hundredths of the step's length. Otherwise ΣJJᵀ is used. It
/// includes the gradients of R's noise, so steps are too short, by 40 % at a dose of 10 electrons
/// per pixel.
std::optional<NewtonStep> newton_step(const kernel::RigidSums& sums, const Similarity& alike);

/// Returns the minimum number of pixels of R that must map into T for a comparison.
double least_count(ImageShape reference, Elements row_step);

struct FitOptions {
    int most_steps = 30;
    double stop = .002;    ///< converged if the next step is expected to be shorter (RMS, pixels)
    Elements row_step = 1; ///< every row_step-th row is used
    kernel::Detail detail = kernel::Detail::matrix; ///< `slopes` needs fewer but costlier steps
};

struct Fit {
    RigidMotion motion;
    double ncc = -1; ///< NCC over the overlap at the last evaluation
    int steps = 0;
    bool converged = false;
    double count = 0;      ///< number of pixels of R that map into T at the last evaluation
    bool inverted = false; ///< see Images::inverted
};

/// Finds the motion near a start at which the score vanishes, by inverse-compositional Gauss-Newton
/// steps on the squared difference over the overlap.
///
/// Only R's gradient is used. The factors of T's noise are then independent of that noise, so there
/// is no bias towards motions at which interpolation smooths most. Maximising the NCC would have
/// this bias.
///
/// Output    not converged if the steps did not shrink, the overlap fell below a tenth of R, or R
///           does not determine a parameter. The motion is then the last one evaluated.
/// Cost      one kernel::rigid_sums() over the overlap per step.
/// Deterministic  the same bits on the same kind of processor, for any number of threads.
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

/// Scales the sums of a tile by its weight, 0 to 1. Noise gradients add a term to the score that
/// does not depend on the motion, so tiles that show only noise, such as tiles between particles,
/// get weight 0. ΣJD is not biased by noise: a tile gets full weight if its ΣJD is at least a third
/// of its ΣJJᵀ. `inverted` is Images::inverted.
void weigh_tile(kernel::RigidSums& tile, bool inverted = false);

/// Estimates the uncertainty with the sandwich estimator H⁻¹VH⁻¹. H is the derivative of the score
/// with respect to the motion, computed from the gradients of both frames because their noise is
/// independent. V is the sum of the outer products of the tiles' scores, because filtered noise is
/// hardly correlated between tiles. The result is infinite if the frames do not determine the
/// motion.
///
/// Input     the tiles' sums with slopes at the fitted motion; the total of these sums and the
///           similarity; the motion's angle; the number of independent samples of the squared
///           noise, which matters for a few tiles only.
RigidUncertainty uncertainty_of(std::span<const kernel::RigidSums> tiles,
                                const kernel::RigidSums& all, const Similarity& alike, double alpha,
                                double independent);

/// Sums over pairs of tiles that determine the covariance of the tiles' displacements.
struct TileCovariance {
    /// Σ s_i s_j, Σ h_i h_j and Σ (s_i s_j)² of the tiles' scores s and their derivatives h.
    float products = 0, slopes = 0, squares = 0;

    TileCovariance& operator+=(const TileCovariance& other);
    /// The covariance, pixels².
    double value() const;
    /// The covariance in units of noise().
    double deviations() const;
    /// The standard deviation of the covariance that is due to noise.
    double noise() const;
};

/// Evidence that parts of a frame have moved relative to one another, beyond the fitted motion.
/// Each tile's score implies a displacement. The noise of different tiles is independent, so
/// products of these displacements have mean 0 for pure noise of any strength, and a positive mean
/// if tiles moved together. Adjacent tiles are not compared, because the filter correlates their
/// noise.
struct Misfit {
    TileCovariance smooth; ///< displacements of tiles two apart along an axis
    TileCovariance rows;   ///< displacements to the right, of tiles in the same row of tiles
    TileCovariance down;   ///< displacements to the right, of tiles two apart in the same column

    Misfit& operator+=(const Misfit& other);
    /// True if the displacements depend on the row only, and change from row to row.
    bool is_of_rows() const;
    /// The RMS displacement of parts of the frame, pixels. If is_of_rows(), the parts are the rows
    /// of tiles; their mean displacements are used.
    double pixels() const;
    /// The significance of the displacements, in standard deviations of the noise.
    double deviations() const;
};

/// Residual motion within the frames of a series.
struct SeriesMisfit {
    /// True if the motion is not explained by noise and large enough to matter.
    bool significant = false;
    bool of_rows = false; ///< Misfit::is_of_rows()
    double pixels = 0, deviations = 0;
};

/// Combines the evidence of all frames. Residual motion is significant if it exceeds noise by five
/// standard deviations, at least three frames (or all, if there are fewer) contribute to the
/// excess, and it is at least .03 pixels (RMS), or .015 pixels if it is of rows, because means over
/// the rows of a tile are much smaller than the jitter of single rows.
///
/// Input     the misfits of frames; `shared`: the fraction of the noise that all frames have in
///           common because they were registered to the same frame.
SeriesMisfit misfit_of_series(std::span<const Misfit> frames, double shared);

/// Computes the misfit of a registration from its tiles.
///
/// Input     the tiles' sums with slopes at the fitted motion, weighted by weigh_tile(), row by
///           row; the similarity; the number of fitted parameters.
Misfit misfit_of(std::span<const kernel::RigidSums> tiles, ImageShape count,
                 const Similarity& alike, std::size_t parameters);

} // namespace sextant::registration
