// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/pair/level.hpp"

#include "sextant/core/run_control.hpp"
#include "sextant/registration/pair/descent.hpp"
#include "sextant/registration/pair/partition.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace sextant::registration {

namespace {

/// Returns the number of filtered pixels that carry as much independent noise as one unfiltered
/// pixel.
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

/// True if k ΣJD is reliable as a derivative: each diagonal entry, relative to that of ΣJJᵀ, is
/// more than a fifth or more than ten standard deviations of its noise.
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
    const auto step_by = [&](const Eigen::Matrix3d& matrix,
                             double left) -> std::optional<NewtonStep> {
        const std::optional<Eigen::Vector3d> p =
            solved(Eigen::LLT<Eigen::Matrix3d>(matrix), by, 1e-12);
        return p ? std::optional(NewtonStep{{(*p)[0], (*p)[1], (*p)[2]}, left}) : std::nullopt;
    };
    if (is_root(sums, alike.scale)) {
        constexpr double left = .1; // error after a step, relative to the step; usually at most .05
        if (const auto step = step_by(alike.scale * symmetric(sums.jd), left))
            return step;
    }
    return step_by(symmetric(sums.jj), 1);
}

kernel::RigidMap map_of(const RigidMotion& motion, Point centre) {
    const Point first = apply(motion, {0, 0}, centre);
    return {std::cos(motion.alpha), std::sin(motion.alpha), first.x, first.y};
}

Images images_of(const Pyramid& reference, const Pyramid& moved, int level, bool inverted) {
    const Point c = centre(reference.shape());
    const double scale = std::ldexp(1, -level);
    return {reference.level(level),
            moved.level(level),
            {c.x * scale, c.y * scale},
            reference.gaps() || moved.gaps(),
            inverted};
}

Tiling tiling_of(ImageShape frame) {
    const Elements side = std::min(frame.width, frame.height);
    return {frame, side <= 32 ? 8 : side < 192 ? 16 : 32};
}

double noise_within_tiles(const Tiling& tiling, double sigma) {
    if (tiling.side > 8)
        return 1;
    // The mean distance of correlated noise is 2σ/√π along an axis.
    const double lost = 2 * sigma / std::sqrt(std::numbers::pi) / static_cast<double>(tiling.side);
    return std::pow(std::max(.5, 1 - lost), 2);
}

kernel::RigidSums total_of(std::span<const kernel::RigidSums> tiles) {
    kernel::RigidSums sums;
    for (const kernel::RigidSums& tile : tiles)
        sums += tile;
    return sums;
}

Similarity similarity(const kernel::RigidSums& sums, bool inverted) {
    if (sums.count == 0)
        return {};
    const double mean_r = sums.r / sums.count, mean_t = sums.t / sums.count;
    const double variance_r = sums.rr / sums.count - mean_r * mean_r;
    const double variance_t = sums.tt / sums.count - mean_t * mean_t;
    constexpr double none = 1e-12; // smaller variances count as 0; usual variances are about 1
    if (!(variance_r > none && variance_t > none))
        return {0, 1, mean_r, mean_t};
    const double covariance = sums.rt / sums.count - mean_r * mean_t, sign = inverted ? -1 : 1;
    const double ncc = sign * covariance / std::sqrt(variance_r * variance_t);
    return {std::clamp(ncc, -1., 1.), // rounding errors
            sign * std::sqrt(variance_r / variance_t), mean_r, mean_t};
}

double independent_pixels(double pixels, double sigma) {
    return std::max(1., pixels / pixels_per_independent_one(sigma));
}

double ncc_of_noise(double pixels, double sigma) {
    const double independent = independent_pixels(pixels, sigma);
    // In pure noise, the best of many motions reaches 4 to 5 deviations; in small frames, there are
    // fewer motions.
    constexpr double most = 6, margin = 2;
    const double deviations = std::min(most, margin + std::sqrt(2 * std::log(independent)));
    constexpr double lost = 3; // degrees of freedom
    return std::tanh(deviations / std::sqrt(std::max(1., independent - lost)));
}

bool is_lower_ncc(double ncc, double other, double pixels, double sigma) {
    constexpr double deviations = 4, most = .99; // most: almost equal images do not differ
    const double independent = std::max(1., pixels / pixels_per_independent_one(sigma));
    // Fisher's transformation: the deviation of a transformed NCC depends on the count only.
    const auto transformed = [most](double value) {
        return std::atanh(std::clamp(value, -most, most));
    };
    return transformed(other) - transformed(ncc) > deviations * std::sqrt(2 / independent);
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
    kernel::RigidSums sums;
    Similarity alike;
    const auto evaluate = [&](const RigidMotion& motion) {
        sums = sums_over(images, motion, options.detail, options.row_step, team);
        alike = similarity(sums, images.inverted);
        const bool overlaps = sums.count >= least_count(shape, options.row_step);
        fit.ncc = overlaps ? alike.ncc : -1;
        fit.count = sums.count;
        return overlaps;
    };
    const Descent descent = descend(fit.motion, shape, {options.most_steps, options.stop}, evaluate,
                                    [&] { return newton_step(sums, alike); });
    fit.steps = descent.steps;
    fit.converged = descent.converged;
    return fit;
}

namespace {

/// Returns the covariance of a small motion before φ; infinite if H is not positive definite.
Eigen::Matrix3d covariance_before(std::span<const kernel::RigidSums> tiles,
                                  const kernel::RigidSums& all, const Similarity& alike,
                                  double independent) {
    const Eigen::LLT<Eigen::Matrix3d> factor(alike.scale * symmetric(all.jd));
    if (factor.info() != Eigen::Success)
        return Eigen::Matrix3d::Identity() * std::numeric_limits<double>::infinity();
    double seen = 0;
    Eigen::Matrix3d spread = Eigen::Matrix3d::Zero();
    for (const kernel::RigidSums& tile : tiles) {
        const Score of_tile = score(tile, alike);
        const Eigen::Vector3d s(of_tile.by[0], of_tile.by[1], of_tile.by[2]);
        spread += s * s.transpose();
        seen += tile.count > 0;
    }
    constexpr double enough = 16, parameters = 3;
    if (seen >= enough)
        return covariance_of_fit(factor, spread, seen);
    // A few tiles do not determine all entries of the scores' covariance. It is then assumed to be
    // proportional to H, as that of white noise is. The mean of the tiles' scores is 0, and the
    // motion, the level and the contrast have been fitted to the noise.
    constexpr double fitted = parameters + 2;
    const double left = std::max(1., independent - fitted);
    return factor.solve(spread).trace() / parameters * (seen / std::max(1., seen - 1)) *
           ((left + fitted) / left) * factor.solve(Eigen::Matrix3d::Identity());
}

/// Converts the covariance of a small motion before φ to the covariance of φ: R(α) rotates the
/// shift.
RigidUncertainty of_motion(const Eigen::Matrix3d& before, double alpha) {
    Eigen::Matrix3d turn = Eigen::Matrix3d::Identity();
    turn.bottomRightCorner<2, 2>() = Eigen::Rotation2Dd(alpha).toRotationMatrix();
    return uncertainty_with(entries_of(turn * before * turn.transpose()));
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
                                const kernel::RigidSums& all, const Similarity& alike, double alpha,
                                double independent) {
    return of_motion(covariance_before(tiles, all, alike, independent), alpha);
}

namespace {

constexpr std::size_t along_x = 0, along_y = 1;
constexpr Elements tiles_apart = 2; ///< distance of compared tiles

/// A value for each axis.
using ByAxis = std::array<double, 2>;

/// The score of a tile with respect to a shift along each axis, and its derivative.
struct TileScore {
    ByAxis score{}, slope{};
};

TileScore score_of(const kernel::RigidSums& tile, const Similarity& alike) {
    if (!(tile.count > 0))
        return {};
    const Score of_tile = score(tile, alike);
    return {{of_tile.by[1], of_tile.by[2]}, {alike.scale * tile.jd[3], alike.scale * tile.jd[5]}};
}

/// The sums Σ s_i s_j, Σ h_i h_j and Σ (s_i s_j)² over pairs of tiles; see TileCovariance.
struct PairSums {
    double products = 0, slopes = 0, squares = 0;

    void add(const TileScore& a, const TileScore& b, std::size_t axis) {
        const double product = a.score[axis] * b.score[axis];
        products += product;
        slopes += a.slope[axis] * b.slope[axis];
        squares += product * product;
    }
    /// Returns the covariance. The fit has removed the common displacement of the tiles, which
    /// reduces the products by `removed`, the variance of the fitted motion. This term is added
    /// back.
    TileCovariance covariance(double removed) const {
        return {static_cast<float>(products + slopes * removed), static_cast<float>(slopes),
                static_cast<float>(squares)};
    }
};

} // namespace

TileCovariance& TileCovariance::operator+=(const TileCovariance& other) {
    products += other.products;
    slopes += other.slopes;
    squares += other.squares;
    return *this;
}

double TileCovariance::value() const {
    return slopes > 0 ? static_cast<double>(products / slopes) : 0;
}

double TileCovariance::deviations() const {
    return squares > 0 ? static_cast<double>(products / std::sqrt(squares)) : 0;
}

double TileCovariance::noise() const {
    return slopes > 0 ? std::sqrt(static_cast<double>(squares)) / static_cast<double>(slopes) : 0;
}

Misfit& Misfit::operator+=(const Misfit& other) {
    smooth += other.smooth;
    rows += other.rows;
    down += other.down;
    return *this;
}

bool Misfit::is_of_rows() const {
    // A shear also displaces rows, but adjacent rows by nearly the same amount.
    return rows.deviations() > smooth.deviations() &&
           2 * (down.value() + 2 * down.noise()) < rows.value();
}

double Misfit::pixels() const {
    const double along_an_axis = is_of_rows() ? rows.value() / 2 : smooth.value();
    return std::sqrt(2 * std::max(0., along_an_axis));
}

double Misfit::deviations() const {
    return is_of_rows() ? rows.deviations() : smooth.deviations();
}

SeriesMisfit misfit_of_series(std::span<const Misfit> frames, double shared) {
    constexpr double least_deviations = 5;
    Misfit all;
    for (const Misfit& frame : frames)
        all += frame;
    SeriesMisfit found;
    found.of_rows = all.is_of_rows();
    const double least_pixels =
        found.of_rows ? .015 : .03; // jitter is averaged over rows of a tile
    found.pixels = all.pixels();
    // If frames share a fraction of their noise, their products are correlated by the square of
    // this fraction.
    const auto count = static_cast<double>(frames.size());
    const double alike = std::sqrt(1 + std::max(0., count - 1) * shared * shared);
    const auto evidence_of = [&](const Misfit& misfit) -> const TileCovariance& {
        return found.of_rows ? misfit.rows : misfit.smooth;
    };
    found.deviations = evidence_of(all).deviations() / alike;
    const double deviation = std::sqrt(static_cast<double>(evidence_of(all).squares)) * alike;
    // Limit the contribution of each frame, so that a single wrong registration cannot determine
    // the result for the series.
    const double most_of_one = 1.01 * least_deviations * deviation / std::min(3., count);
    double sum = 0;
    for (const Misfit& frame : frames)
        sum += std::min(static_cast<double>(evidence_of(frame).products), most_of_one);
    found.significant = sum > least_deviations * deviation && found.pixels > least_pixels;
    return found;
}

Misfit misfit_of(std::span<const kernel::RigidSums> tiles, ImageShape count,
                 const Similarity& alike, std::size_t parameters) {
    const auto at = [&](Elements column, Elements row) {
        return score_of(tiles[static_cast<std::size_t>(row * count.width + column)], alike);
    };
    std::array<PairSums, 2> smooth;
    PairSums rows, down;
    ByAxis squares{}, slopes{};
    for (Elements row = 0; row < count.height; ++row) {
        double before = 0, slopes_before = 0,
               squares_before = 0; // sums over tiles at least `tiles_apart` to the left
        for (Elements column = 0; column < count.width; ++column) {
            const TileScore one = at(column, row);
            for (const std::size_t axis : {along_x, along_y}) {
                squares[axis] += one.score[axis] * one.score[axis];
                slopes[axis] += one.slope[axis];
            }
            if (column >= tiles_apart) {
                const TileScore other = at(column - tiles_apart, row);
                const double s = other.score[along_x];
                before += s;
                squares_before += s * s;
                slopes_before += other.slope[along_x];
                rows.products += one.score[along_x] * before;
                rows.squares += one.score[along_x] * one.score[along_x] * squares_before;
                rows.slopes += one.slope[along_x] * slopes_before;
                for (const std::size_t axis : {along_x, along_y})
                    smooth[axis].add(one, other, axis);
            }
            if (row >= tiles_apart) {
                const TileScore other = at(column, row - tiles_apart);
                if (8 * column >= count.width) // the flyback of a scan may disturb the others
                    down.add(one, other, along_x);
                for (const std::size_t axis : {along_x, along_y})
                    smooth[axis].add(one, other, axis);
            }
        }
    }
    ByAxis removed{};
    for (const std::size_t axis : {along_x, along_y}) {
        if (slopes[axis] > 0)
            removed[axis] =
                static_cast<double>(parameters) / 2 * squares[axis] / (slopes[axis] * slopes[axis]);
    }
    Misfit misfit{smooth[along_x].covariance(removed[along_x]), rows.covariance(removed[along_x]),
                  down.covariance(removed[along_x])};
    misfit.smooth += smooth[along_y].covariance(removed[along_y]);
    return misfit;
}

} // namespace sextant::registration
