// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/rigid.hpp"

#include "sextant/core/error.hpp"
#include "sextant/registration/symmetric.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <Eigen/Dense>
#include <fmt/format.h>

namespace sextant::registration {

namespace {

/// Over which filtered noise is correlated no more, yet small enough that there are several.
Elements tile_side(ImageShape shape) {
    return std::min(shape.width, shape.height) < 192 ? 16 : 32;
}

constexpr std::size_t followed = 3; ///< starts, after their first steps
/// Starts that end nearer to one another than this, in pixels of the coarsest level, are one.
constexpr double distinct = 2;

ImageShape shape_of_level(ImageShape shape, int level) {
    for (int k = 0; k < level; ++k)
        shape = kernel::halved(shape);
    return shape;
}

RigidMotion scaled(const RigidMotion& motion, double factor) {
    return {motion.alpha, motion.tx * factor, motion.ty * factor};
}

Tile tile_at(Elements x, Elements y, ImageShape shape) {
    const Elements side = tile_side(shape);
    return {x, y, std::min(side, shape.width - x), std::min(side, shape.height - y)};
}

Elements tiles_in(ImageShape shape) {
    const Elements side = tile_side(shape);
    return ((shape.width + side - 1) / side) * ((shape.height + side - 1) / side);
}

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

/// Of pixels that say something of their own, so many are left of `count` by a Gaussian filter.
double independent(double count, double sigma) {
    return count / std::max(1., 4 * std::numbers::pi * sigma * sigma);
}

} // namespace

RigidRegistration::RigidRegistration(ImageShape shape, int levels, const RigidOptions& options)
    : shape_(shape),
      levels_(levels == 0 ? usual_levels(shape) : levels),
      options_(options),
      correlation_(shape_of_level(shape, levels_ - 1)) {
    fits_.reserve(Correlation::most);
    tiles_.reserve(static_cast<std::size_t>(tiles_in(shape)));
}

void RigidRegistration::check(const Pyramid& pyramid) const {
    if (pyramid.shape() != shape_ || pyramid.levels() != levels_)
        throw InvalidTask(fmt::format("a frame of {}x{} pixels on {} levels, expected {}x{} on {}",
                                      pyramid.shape().width, pyramid.shape().height,
                                      pyramid.levels(), shape_.width, shape_.height, levels_));
}

/// A level and its centre: that of the frame, halved as places are.
Images RigidRegistration::images(const Pyramid& reference, const Pyramid& moved, int level) const {
    const Point c = centre(shape_);
    const double scale = std::ldexp(1, -level);
    return {reference.level(level), moved.level(level), {c.x * scale, c.y * scale}};
}

RigidResult RigidRegistration::align(const Pyramid& reference, const Pyramid& moved) {
    check(reference);
    check(moved);
    return descend(reference, moved, levels_ - 1, search(reference, moved));
}

RigidResult RigidRegistration::refine(const Pyramid& reference, const Pyramid& moved,
                                      const RigidMotion& start) {
    check(reference);
    check(moved);
    const int level = std::min(1, levels_ - 1);
    Start given;
    given.fit.motion = scaled(start, std::ldexp(1, -level));
    return descend(reference, moved, level, given);
}

RigidRegistration::Start RigidRegistration::search(const Pyramid& reference, const Pyramid& moved) {
    const Images coarsest = images(reference, moved, levels_ - 1);
    const auto more_alike = [](const Fit& fit, const Fit& other) { return fit.ncc > other.ncc; };
    const auto distance = [&](const Fit& fit, const Fit& other) {
        return rms_distance(fit.motion, other.motion, coarsest.reference.shape);
    };
    Start start;
    start.margin = 0; // where nothing is found, nothing is certain
    fits_.clear();
    for (const Resemblance& found :
         correlation_.search(coarsest.reference, coarsest.moved, coarsest.centre)) {
        const Fit one = fit(coarsest, found.motion, {3, .05, 2});
        start.iterations += one.steps;
        const auto same = std::find_if(fits_.begin(), fits_.end(), [&](const Fit& other) {
            return distance(one, other) < distinct;
        });
        if (same == fits_.end())
            fits_.push_back(one);
        else if (one.ncc > same->ncc)
            *same = one;
    }
    if (fits_.empty())
        return start;
    std::sort(fits_.begin(), fits_.end(), more_alike);
    fits_.resize(std::min(fits_.size(), followed));
    for (Fit& one : fits_) {
        one = fit(coarsest, one.motion, {8, .02, 2});
        start.iterations += one.steps;
    }
    std::sort(fits_.begin(), fits_.end(), more_alike);
    start.fit = fits_.front();
    start.margin = 1 + start.fit.ncc; // above that of no likeness at all, −1
    for (const Fit& other : fits_) {
        if (distance(other, start.fit) >= distinct) {
            start.margin = start.fit.ncc - other.ncc;
            break;
        }
    }
    return start;
}

RigidResult RigidRegistration::descend(const Pyramid& reference, const Pyramid& moved, int level,
                                       Start start) {
    RigidResult result;
    result.iterations = start.iterations;
    result.margin = start.margin;
    result.ambiguous = start.margin && *start.margin < options_.least_margin;
    RigidMotion motion = start.fit.motion;
    for (;; --level) {
        // A coarser level need not be exact: it is where the next begins.
        const double stop = level > 0 ? std::max(.02, options_.stop) : options_.stop;
        const Fit one =
            fit(images(reference, moved, level), motion, {options_.most_steps, stop, 1});
        result.iterations += one.steps;
        result.converged = one.converged;
        motion = one.motion;
        if (level == 0)
            break;
        motion = scaled(motion, 2);
    }
    result.motion = motion;
    judge(reference, moved, result);
    return result;
}

/// How alike the frames are, how sure the motion is, and whether it means anything.
void RigidRegistration::judge(const Pyramid& reference, const Pyramid& moved, RigidResult& result) {
    const Images finest = images(reference, moved, 0);
    result.ncc_before = similarity(sums_over(finest, {}, kernel::Detail::score, 4)).ncc;

    const kernel::RigidLook look{finest.reference, finest.moved,
                                 map_of(result.motion, finest.centre), finest.centre.x,
                                 finest.centre.y};
    kernel::RigidSums all;
    tiles_.clear();
    for (Elements y = 0; y < shape_.height; y += tile_side(shape_)) {
        for (Elements x = 0; x < shape_.width; x += tile_side(shape_)) {
            tiles_.push_back(
                kernel::rigid_sums(look, tile_at(x, y, shape_), kernel::Detail::slopes));
            all += tiles_.back();
        }
    }
    const Similarity alike = similarity(all);
    result.uncertainty =
        of_motion(sandwich(alike.scale * symmetric(all.jd), spread_of_scores(tiles_, alike)),
                  result.motion.alpha);
    result.ncc_after = alike.ncc;
    const Tile seen = kernel::with_slopes({0, 0, shape_.width, shape_.height}, shape_);
    result.overlap = all.count / static_cast<double>(seen.elements());
    constexpr double deviations = 6; // of the best of many motions of two images of noise: 4 or 5
    result.unrelated =
        !(alike.ncc >
          deviations / std::sqrt(std::max(1., independent(all.count, reference.prefilter()))));
}

} // namespace sextant::registration
