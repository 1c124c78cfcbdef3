// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/thread_team.hpp"
#include "sextant/kernel/fit/rigid_map.hpp"
#include "sextant/registration/motion.hpp"

#include <array>
#include <optional>
#include <span>

namespace sextant::registration {

/// Converts a motion about a centre to the kernels' form.
kernel::RigidMap map_of(const RigidMotion& motion, Point centre);

/// Two images to be registered, each roughly normalised, and the centre of rotation.
struct Images {
    kernel::FloatImage reference, moved;
    Point centre;
    bool gaps = false; ///< true if either may have NaN, which is ignored
};

/// The similarity of two images over their overlap.
struct Similarity {
    double ncc = 0;   ///< normalised cross-correlation, −1 to 1; 0 if an image is constant
    double scale = 1; ///< k = σ_R/σ_T, by which T is multiplied to compare it with R
    double mean_r = 0, mean_t = 0;
};

Similarity similarity(const kernel::RigidSums& sums);

/// Returns the largest NCC to be expected of two images of noise, over that many pixels filtered by
/// a Gaussian of `sigma`.
double ncc_of_noise(double pixels, double sigma);

/// The score ΣJe with e = k(T∘φ − T̄) − (R − R̄): the derivative of the squared difference with
/// respect to a small motion before φ. The similarity may be that of a larger region.
struct Score {
    double by[3] = {};
};

Score score(const kernel::RigidSums& sums, const Similarity& similarity);

/// Returns the kernels' arguments for a motion.
kernel::RigidComparison compare_at(const Images& images, const RigidMotion& motion,
                                   Elements row_step = 1);

/// Returns the sums over whole images, added by bands of rows.
/// Deterministic  The bits do not depend on the number of threads.
kernel::RigidSums sums_over(const Images& images, const RigidMotion& motion, kernel::Detail detail,
                            Elements row_step = 1, Team* team = nullptr);

/// A small motion before φ, and the expected length of the next step relative to this one.
struct NewtonStep {
    RigidMotion motion;
    double left = 1;
};

/// Returns the motion at which the score of these sums would vanish; none if R has no gradient that
/// determines it.
///
/// The derivative of the score is k ΣJD, if that was summed and the images fit well enough; a step
/// then leaves a few hundredths of its length. Otherwise it is ΣJJᵀ, which includes the gradients
/// of R's noise and makes steps too short, by 40 % at a dose of 10.
std::optional<NewtonStep> newton_step(const kernel::RigidSums& sums, const Similarity& alike);

/// Returns the minimum number of R's pixels that must be within T for the two to be compared.
double least_count(ImageShape reference, Elements row_step);

struct FitOptions {
    int most_steps = 30;
    double stop = .002;    ///< expected RMS length of the next step at the end, in pixels
    Elements row_step = 1; ///< every row_step-th row is used
    kernel::Detail detail = kernel::Detail::matrix; ///< or slopes, for fewer but costlier steps
};

struct Fit {
    RigidMotion motion;
    double ncc = -1; ///< over the overlap, at the last evaluation
    int steps = 0;
    bool converged = false;
};

/// Finds the motion near a start at which the score vanishes, by inverse-compositional Gauss-Newton
/// steps on the squared difference over the overlap.
///
/// The gradient is that of R alone. T's noise is then multiplied by independent factors, so there
/// is no bias towards motions at which interpolation smooths most, as it does when NCC is
/// maximised.
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

/// Estimates the uncertainty by the sandwich H⁻¹VH⁻¹. H is the derivative of the score with respect
/// to the motion, from the gradients of both frames, whose noise is independent. V sums outer
/// products of the scores of tiles, between which filtered noise hardly correlates. Infinite if the
/// frames do not determine the motion.
///
/// Input     the tiles' sums with slopes at the motion found, the sums of all tiles and their
///           similarity, and the motion's angle.
RigidUncertainty uncertainty_of(std::span<const kernel::RigidSums> tiles,
                                const kernel::RigidSums& all, const Similarity& alike,
                                double alpha);

} // namespace sextant::registration
