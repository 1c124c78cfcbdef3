// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/rigid_sums.hpp"
#include "sextant/registration/motion.hpp"

namespace sextant::registration {

/// A motion about a centre as kernels take it.
kernel::RigidMap map_of(const RigidMotion& motion, Point centre);

/// Two images to be registered, each about normalised, and what their motions turn about.
struct Images {
    kernel::FloatImage reference, moved;
    Point centre;
};

/// How alike two images are where they overlap.
struct Similarity {
    double ncc = 0;   ///< normalised cross correlation, from −1 to 1; 0 where one is constant
    double scale = 1; ///< k = σ_R/σ_T: what T is multiplied by to be compared with R
    double mean_r = 0, mean_t = 0;
};

Similarity similarity(const kernel::RigidSums& sums);

/// ΣJe, e = k(T∘φ − T̄) − (R − R̄): how the squared difference would change with a small motion
/// before φ. The similarity may be that of a larger region.
struct Score {
    double by[3] = {};
};

Score score(const kernel::RigidSums& sums, const Similarity& similarity);

/// The sums over whole images, or what a tile of the reference gives.
kernel::RigidSums sums_over(const Images& images, const RigidMotion& motion, kernel::Detail detail,
                            Elements row_step = 1);

struct FitOptions {
    int most_steps = 30;
    double stop = .002;    ///< RMS length of a step, in pixels of the images
    Elements row_step = 1; ///< every so manyth row is looked at
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
/// Deterministic  the same bits on the same kind of processor.
/// Source    Baker and Matthews, IJCV 56, 2004, doi:10.1023/B:VISI.0000011205.11775.fd
Fit fit(const Images& images, const RigidMotion& start, const FitOptions& options);

} // namespace sextant::registration
