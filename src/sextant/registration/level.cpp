// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/level.hpp"

#include "sextant/registration/symmetric.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Dense>

namespace sextant::registration {

namespace {

constexpr double least_overlap = .1;

/// The small motion before φ that would make the score vanish; none where R has no slope that would
/// tell.
bool solve(const kernel::RigidSums& sums, const Score& score, RigidMotion& step) {
    const Eigen::LLT<Eigen::Matrix3d> factor(symmetric(sums.jj));
    if (factor.info() != Eigen::Success || factor.rcond() < 1e-12)
        return false;
    const Eigen::Vector3d p = factor.solve(Eigen::Vector3d(score.by[0], score.by[1], score.by[2]));
    step = {p[0], p[1], p[2]};
    return p.allFinite();
}

} // namespace

kernel::RigidMap map_of(const RigidMotion& motion, Point centre) {
    const Point first = apply(motion, {0, 0}, centre);
    return {std::cos(motion.alpha), std::sin(motion.alpha), first.x, first.y};
}

Similarity similarity(const kernel::RigidSums& sums) {
    if (sums.count == 0)
        return {};
    const double mean_r = sums.r / sums.count, mean_t = sums.t / sums.count;
    const double variance_r = sums.rr / sums.count - mean_r * mean_r;
    const double variance_t = sums.tt / sums.count - mean_t * mean_t;
    constexpr double none = 1e-12; // images have a variance of about 1
    if (!(variance_r > none && variance_t > none))
        return {0, 1, mean_r, mean_t};
    const double covariance = sums.rt / sums.count - mean_r * mean_t;
    return {covariance / std::sqrt(variance_r * variance_t), std::sqrt(variance_r / variance_t),
            mean_r, mean_t};
}

Score score(const kernel::RigidSums& sums, const Similarity& similarity) {
    Score score;
    for (int a = 0; a < 3; ++a)
        score.by[a] = similarity.scale * (sums.jt[a] - similarity.mean_t * sums.j[a]) -
                      (sums.jr[a] - similarity.mean_r * sums.j[a]);
    return score;
}

kernel::RigidSums sums_over(const Images& images, const RigidMotion& motion, kernel::Detail detail,
                            Elements row_step) {
    const ImageShape shape = images.reference.shape;
    const kernel::RigidLook look{images.reference, images.moved,    map_of(motion, images.centre),
                                 images.centre.x,  images.centre.y, row_step};
    return kernel::rigid_sums(look, {0, 0, shape.width, shape.height}, detail);
}

Fit fit(const Images& images, const RigidMotion& start, const FitOptions& options) {
    const ImageShape shape = images.reference.shape;
    const double least = least_overlap * static_cast<double>(shape.elements()) /
                         static_cast<double>(options.row_step);
    Fit fit{start};
    for (;;) {
        const kernel::RigidSums sums =
            sums_over(images, fit.motion, kernel::Detail::matrix, options.row_step);
        const Similarity alike = similarity(sums);
        fit.ncc = sums.count < least ? -1 : alike.ncc;
        RigidMotion step;
        if (fit.steps == options.most_steps || sums.count < least ||
            !solve(sums, score(sums, alike), step))
            return fit;
        fit.motion = compose(fit.motion, inverse(step));
        ++fit.steps;
        if (rms_distance(step, {}, shape) < options.stop) {
            fit.converged = true;
            return fit;
        }
    }
}

} // namespace sextant::registration
