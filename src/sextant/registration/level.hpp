// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/thread_team.hpp"
#include "sextant/kernel/fit/rigid_map.hpp"
#include "sextant/registration/motion.hpp"

#include <array>
#include <optional>
#include <span>

namespace sextant::registration {

/// A motion about a centre as kernels take it.
kernel::RigidMap map_of(const RigidMotion& motion, Point centre);

/// Two images to be registered, each about normalised, and what their motions turn about.
struct Images {
    kernel::FloatImage reference, moved;
    Point centre;
    bool gaps = false; ///< whether either may have NaN, which counts nowhere
};

/// How alike two images are where they overlap.
struct Similarity {
    double ncc = 0;   ///< normalised cross correlation, from −1 to 1; 0 where one is constant
    double scale = 1; ///< k = σ_R/σ_T: what T is multiplied by to be compared with R
    double mean_r = 0, mean_t = 0;
};

Similarity similarity(const kernel::RigidSums& sums);

/// The largest NCC, over so many pixels that a Gaussian of `sigma` has filtered, which images of
/// noise may have.
double ncc_of_noise(double pixels, double sigma);

/// ΣJe, e = k(T∘φ − T̄) − (R − R̄): how the squared difference would change with a small motion
/// before φ. The similarity may be that of a larger region.
struct Score {
    double by[3] = {};
};

Score score(const kernel::RigidSums& sums, const Similarity& similarity);

/// What kernels look at.
kernel::RigidLook look_at(const Images& images, const RigidMotion& motion, Elements row_step = 1);

/// The sums over whole images, by bands of rows.
/// Deterministic  the same bits for any number of threads.
kernel::RigidSums sums_over(const Images& images, const RigidMotion& motion, kernel::Detail detail,
                            Elements row_step = 1, Team* team = nullptr);

/// A small motion before φ, and which share of it the next one may be long.
struct NewtonStep {
    RigidMotion motion;
    double left = 1;
};

/// The motion under which the score of these sums would vanish; none where R has no slope that
/// would tell.
///
/// How the score changes with a motion is k ΣJD, where that was summed and the images fit well
/// enough for it to mean anything: a step then leaves a few hundredths of itself. ΣJJᵀ holds the
/// slopes of R's noise too, which makes steps too short, by 40 % at a dose of 10.
std::optional<NewtonStep> newton_step(const kernel::RigidSums& sums, const Similarity& alike);

/// How many of R's pixels must have their place in T for the two to be compared.
double least_count(ImageShape reference, Elements row_step);

struct FitOptions {
    int most_steps = 30;
    double stop = .002;    ///< RMS length that the next step would have, in pixels of the images
    Elements row_step = 1; ///< every so manyth row is looked at
    kernel::Detail detail = kernel::Detail::matrix; ///< or slopes, for fewer steps that cost more
};

struct Fit {
    RigidMotion motion;
    double ncc = -1; ///< over the overlap, where it was last looked at
    int steps = 0;
    bool converged = false;
};

/// The motion near a start where the score vanishes: inverse-compositional Gauss-Newton steps of
/// the squared difference over the overlap.
///
/// The gradient is of R alone. T's noise then enters it with factors that know nothing of it, so no
/// force draws towards where sampling between pixels smooths most: maximising NCC has such a force.
///
/// Output    not converged where the steps did not shrink, the overlap fell below a tenth of R or
///           R says nothing of a parameter there; then the motion is the last one that was tried.
/// Cost      a step: kernel::rigid_sums() over the overlap.
/// Deterministic  the same bits on the same kind of processor, for any number of threads.
/// Source    Baker and Matthews, IJCV 56, 2004, doi:10.1023/B:VISI.0000011205.11775.fd
Fit fit(const Images& images, const RigidMotion& start, const FitOptions& options,
        Team* team = nullptr);

/// The standard deviations of a motion's parameters (radians, pixels), and their covariance by
/// rows.
struct RigidUncertainty {
    double alpha = 0, tx = 0, ty = 0;
    std::array<double, 9> covariance{};
};

/// The sandwich H⁻¹VH⁻¹: H is how the score changes with the motion, from the slopes of both
/// frames, whose noise is independent; V the sum of outer products of the scores of tiles, over
/// which filtered noise is hardly correlated. Infinite where the frames do not tell.
///
/// Input     the tiles' sums with slopes at the motion found, those of all together and their
///           similarity; the motion's angle.
RigidUncertainty uncertainty_of(std::span<const kernel::RigidSums> tiles,
                                const kernel::RigidSums& all, const Similarity& alike,
                                double alpha);

} // namespace sextant::registration
