// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/misfit.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace sextant::registration {

namespace {

constexpr std::size_t along_x = 0, along_y = 1;
constexpr Elements apart = 2; ///< distance of compared tiles

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

/// Σ s_i s_j, Σ h_i h_j and Σ (s_i s_j)².
struct PairSums {
    double products = 0, slopes = 0, squares = 0;

    void add(const TileScore& a, const TileScore& b, std::size_t axis) {
        const double product = a.score[axis] * b.score[axis];
        products += product;
        slopes += a.slope[axis] * b.slope[axis];
        squares += product * product;
    }
    /// Returns the covariance. The fit has removed what the displacements have in common, so their
    /// products are smaller by the variance of the motion.
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
    // A shear also displaces rows, but adjacent ones alike.
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
    constexpr double least_deviations = 5, least_pixels = .03;
    Misfit all;
    for (const Misfit& frame : frames)
        all += frame;
    SeriesMisfit found;
    found.of_rows = all.is_of_rows();
    found.pixels = all.pixels();
    // Products of noise that frames have in common are correlated by the square of its fraction.
    const auto count = static_cast<double>(frames.size());
    const double alike = std::sqrt(1 + std::max(0., count - 1) * shared * shared);
    const auto evidence_of = [&](const Misfit& misfit) -> const TileCovariance& {
        return found.of_rows ? misfit.rows : misfit.smooth;
    };
    found.deviations = evidence_of(all).deviations() / alike;
    const double deviation = std::sqrt(static_cast<double>(evidence_of(all).squares)) * alike;
    // One frame that was registered wrongly must not decide for all.
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
        double before = 0, slopes_before = 0, squares_before = 0; // sums over tiles `apart` before
        for (Elements column = 0; column < count.width; ++column) {
            const TileScore one = at(column, row);
            for (const std::size_t axis : {along_x, along_y}) {
                squares[axis] += one.score[axis] * one.score[axis];
                slopes[axis] += one.slope[axis];
            }
            if (column >= apart) {
                const TileScore other = at(column - apart, row);
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
            if (row >= apart) {
                const TileScore other = at(column, row - apart);
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
