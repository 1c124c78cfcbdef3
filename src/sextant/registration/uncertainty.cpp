// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/uncertainty.hpp"

#include "sextant/registration/symmetric.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Dense>

namespace sextant::registration {

namespace {

/// Σ s sᵀ of the tiles' scores s. Three parameters were fitted to them, which took a part of it.
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

/// From parameters of a small motion before φ to those of φ: t moves by R(α) of its shift.
RigidUncertainty of_motion(const Eigen::Matrix3d& before, double alpha) {
    Eigen::Matrix3d turn = Eigen::Matrix3d::Identity();
    turn.bottomRightCorner<2, 2>() = Eigen::Rotation2Dd(alpha).toRotationMatrix();
    const Eigen::Matrix3d covariance = turn * before * turn.transpose();
    RigidUncertainty uncertainty{
        std::sqrt(covariance(0, 0)), std::sqrt(covariance(1, 1)), std::sqrt(covariance(2, 2)), {}};
    for (int row = 0; row < 3; ++row) {
        for (int column = 0; column < 3; ++column)
            uncertainty.covariance[static_cast<std::size_t>(3 * row + column)] =
                covariance(row, column);
    }
    return uncertainty;
}

/// H⁻¹VH⁻¹; infinite where the frames do not tell.
Eigen::Matrix3d sandwich(const Eigen::Matrix3d& slopes, const Eigen::Matrix3d& scores) {
    const Eigen::LLT<Eigen::Matrix3d> factor(slopes);
    if (factor.info() != Eigen::Success)
        return Eigen::Matrix3d::Identity() * std::numeric_limits<double>::infinity();
    const Eigen::Matrix3d inverse = factor.solve(Eigen::Matrix3d::Identity());
    return inverse * scores * inverse;
}

} // namespace

RigidUncertainty uncertainty_of(std::span<const kernel::RigidSums> tiles,
                                const kernel::RigidSums& all, const Similarity& alike,
                                double alpha) {
    return of_motion(sandwich(alike.scale * symmetric(all.jd), spread_of_scores(tiles, alike)),
                     alpha);
}

} // namespace sextant::registration
