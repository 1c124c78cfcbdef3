// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/level.hpp"

#include "sextant/core/cancellation.hpp"
#include "sextant/registration/partition.hpp"
#include "sextant/registration/pyramid.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include <Eigen/Dense>

namespace sextant::registration {

namespace {

/// Returns the number of pixels whose filtered noise amounts to that of one independent pixel.
double pixels_per_independent_one(double sigma) {
    return std::max(1., 4 * std::numbers::pi * sigma * sigma);
}

/// Returns a symmetric matrix from its entries (0,0) (0,1) (0,2) (1,1) (1,2) (2,2).
Eigen::Matrix3d symmetric(const double (&upper)[6]) {
    Eigen::Matrix3d matrix;
    matrix << upper[0], upper[1], upper[2], upper[1], upper[3], upper[4], upper[2], upper[4],
        upper[5];
    return matrix;
}

/// True if k ΣJD is reliable: relative to that of ΣJJᵀ, its diagonal is more than a fifth, or ten
/// standard deviations of its noise.
bool is_root(const kernel::RigidSums& sums, double scale) {
    constexpr double most = .2, deviations = 10;
    const double independent = sums.count / pixels_per_independent_one(usual_prefilter);
    const double least = std::min(most, deviations / std::sqrt(std::max(1., independent)));
    for (const int diagonal : {0, 3, 5}) {
        if (!(scale * sums.jd[diagonal] > least * sums.jj[diagonal]))
            return false;
    }
    return true;
}

/// Returns the weight of a tile.
double weight_of(const kernel::RigidSums& tile, bool inverted) {
    constexpr double enough = 1. / 3;
    const double slopes = tile.jj[3] + tile.jj[5];
    const double common = (tile.jd[3] + tile.jd[5]) * (inverted ? -1 : 1);
    return slopes > 0 ? std::clamp(common / (enough * slopes), 0., 1.) : 0;
}

void scale(kernel::RigidSums& sums, double by) {
    for (double* const sum : {&sums.count, &sums.r, &sums.t, &sums.rr, &sums.tt, &sums.rt})
        *sum *= by;
    for (const std::span<double> some :
         {std::span<double>(sums.j), std::span<double>(sums.jr), std::span<double>(sums.jt),
          std::span<double>(sums.jj), std::span<double>(sums.jd)}) {
        for (double& sum : some)
            sum *= by;
    }
}

} // namespace

std::optional<NewtonStep> newton_step(const kernel::RigidSums& sums, const Similarity& alike) {
    const Score slope = score(sums, alike);
    const Eigen::Vector3d by(slope.by[0], slope.by[1], slope.by[2]);
    const auto solved = [&](const Eigen::Matrix3d& matrix,
                            double left) -> std::optional<NewtonStep> {
        const Eigen::LLT<Eigen::Matrix3d> factor(matrix);
        if (factor.info() != Eigen::Success || factor.rcond() < 1e-12)
            return std::nullopt;
        const Eigen::Vector3d p = factor.solve(by);
        return p.allFinite() ? std::optional(NewtonStep{{p[0], p[1], p[2]}, left}) : std::nullopt;
    };
    if (is_root(sums, alike.scale)) {
        constexpr double left = .1; // error after a step, relative to the step; usually at most .05
        if (const auto step = solved(alike.scale * symmetric(sums.jd), left))
            return step;
    }
    return solved(symmetric(sums.jj), 1);
}

kernel::RigidMap map_of(const RigidMotion& motion, Point centre) {
    const Point first = apply(motion, {0, 0}, centre);
    return {std::cos(motion.alpha), std::sin(motion.alpha), first.x, first.y};
}

Similarity similarity(const kernel::RigidSums& sums, bool inverted) {
    if (sums.count == 0)
        return {};
    const double mean_r = sums.r / sums.count, mean_t = sums.t / sums.count;
    const double variance_r = sums.rr / sums.count - mean_r * mean_r;
    const double variance_t = sums.tt / sums.count - mean_t * mean_t;
    constexpr double none = 1e-12; // counts as 0; usual variances are about 1
    if (!(variance_r > none && variance_t > none))
        return {0, 1, mean_r, mean_t};
    const double covariance = sums.rt / sums.count - mean_r * mean_t, sign = inverted ? -1 : 1;
    return {sign * covariance / std::sqrt(variance_r * variance_t),
            sign * std::sqrt(variance_r / variance_t), mean_r, mean_t};
}

double ncc_of_noise(double pixels, double sigma) {
    const double independent = pixels / pixels_per_independent_one(sigma);
    constexpr double deviations = 6; // in pure noise, the best of many motions reaches 4 to 5
    return deviations / std::sqrt(std::max(1., independent));
}

Score score(const kernel::RigidSums& sums, const Similarity& similarity) {
    Score score;
    for (int a = 0; a < 3; ++a)
        score.by[a] = similarity.scale * (sums.jt[a] - similarity.mean_t * sums.j[a]) -
                      (sums.jr[a] - similarity.mean_r * sums.j[a]);
    return score;
}

kernel::RigidComparison compare_at(const Images& images, const RigidMotion& motion,
                                   Elements row_step) {
    return {images.reference, images.moved,    map_of(motion, images.centre),
            images.centre.x,  images.centre.y, row_step,
            images.gaps};
}

kernel::RigidSums sums_over(const Images& images, const RigidMotion& motion, kernel::Detail detail,
                            Elements row_step, Team* team) {
    const ImageShape shape = images.reference.shape;
    const kernel::RigidComparison comparison = compare_at(images, motion, row_step);
    const Bands bands(shape.height);
    std::array<kernel::RigidSums, Bands::most> parts;
    run_parts(team, bands.count(), [&](int band, int) {
        const Elements first = bands.first(band);
        check_cancelled(shape.width * (bands.first(band + 1) - first) / row_step);
        parts[static_cast<std::size_t>(band)] = kernel::rigid_sums(
            comparison, {0, first, shape.width, bands.first(band + 1) - first}, detail);
    });
    kernel::RigidSums sums;
    for (int band = 0; band < bands.count(); ++band)
        sums += parts[static_cast<std::size_t>(band)];
    return sums;
}

double least_count(ImageShape reference, Elements row_step) {
    constexpr double least_overlap = .1;
    return least_overlap * static_cast<double>(reference.elements()) /
           static_cast<double>(row_step);
}

Fit fit(const Images& images, const RigidMotion& start, const FitOptions& options, Team* team) {
    const ImageShape shape = images.reference.shape;
    Fit fit{start};
    fit.inverted = images.inverted;
    for (;;) {
        const kernel::RigidSums sums =
            sums_over(images, fit.motion, options.detail, options.row_step, team);
        const Similarity alike = similarity(sums, images.inverted);
        const bool overlaps = sums.count >= least_count(shape, options.row_step);
        fit.ncc = overlaps ? alike.ncc : -1;
        fit.count = sums.count;
        if (!overlaps || fit.steps == options.most_steps)
            return fit;
        const std::optional<NewtonStep> step = newton_step(sums, alike);
        if (!step)
            return fit;
        fit.motion = compose(fit.motion, inverse(step->motion));
        ++fit.steps;
        if (step->left * rms_distance(step->motion, {}, shape) < options.stop) {
            fit.converged = true;
            return fit;
        }
    }
}

namespace {

/// Returns Σ s sᵀ of the tiles' scores s, corrected for the three parameters fitted to them.
Eigen::Matrix3d spread_of_scores(std::span<const kernel::RigidSums> tiles,
                                 const Similarity& alike) {
    constexpr double fitted = 3;
    double seen = 0;
    Eigen::Matrix3d spread = Eigen::Matrix3d::Zero();
    for (const kernel::RigidSums& tile : tiles) {
        const Score of_tile = score(tile, alike);
        const Eigen::Vector3d s(of_tile.by[0], of_tile.by[1], of_tile.by[2]);
        spread += s * s.transpose();
        seen += tile.count > 0;
    }
    return spread * (seen / std::max(1., seen - fitted));
}

/// Converts the covariance of a small motion before φ to that of φ: R(α) rotates the shift.
RigidUncertainty of_motion(const Eigen::Matrix3d& before, double alpha) {
    Eigen::Matrix3d turn = Eigen::Matrix3d::Identity();
    turn.bottomRightCorner<2, 2>() = Eigen::Rotation2Dd(alpha).toRotationMatrix();
    const Eigen::Matrix3d covariance = turn * before * turn.transpose();
    std::array<double, 9> entries;
    Eigen::Map<Eigen::Matrix3d>(entries.data()) = covariance; // symmetric: rows are columns
    return uncertainty_with(entries);
}

/// Returns H⁻¹VH⁻¹; infinite if H is not positive definite.
Eigen::Matrix3d sandwich(const Eigen::Matrix3d& slopes, const Eigen::Matrix3d& scores) {
    const Eigen::LLT<Eigen::Matrix3d> factor(slopes);
    if (factor.info() != Eigen::Success)
        return Eigen::Matrix3d::Identity() * std::numeric_limits<double>::infinity();
    const Eigen::Matrix3d inverse = factor.solve(Eigen::Matrix3d::Identity());
    return inverse * scores * inverse;
}

} // namespace

RigidUncertainty uncertainty_with(const std::array<double, 9>& covariance) {
    return {std::sqrt(covariance[0]), std::sqrt(covariance[4]), std::sqrt(covariance[8]),
            covariance};
}

void weigh_tile(kernel::RigidSums& tile, bool inverted) {
    scale(tile, weight_of(tile, inverted));
}

RigidUncertainty uncertainty_of(std::span<const kernel::RigidSums> tiles,
                                const kernel::RigidSums& all, const Similarity& alike,
                                double alpha) {
    return of_motion(sandwich(alike.scale * symmetric(all.jd), spread_of_scores(tiles, alike)),
                     alpha);
}

} // namespace sextant::registration
