// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/pair/motion.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sextant::mosaic {

using registration::Point;

/// A symmetric 2x2 matrix: the covariance of a position (px²), or its inverse.
struct Symmetric {
    double xx = 0, xy = 0, yy = 0;

    double determinant() const { return xx * yy - xy * xy; }
    /// Requires a positive determinant.
    Symmetric inverse() const;
    /// The quadratic form vᵀSv.
    double of(Point v) const { return xx * v.x * v.x + 2 * xy * v.x * v.y + yy * v.y * v.y; }
    bool operator==(const Symmetric&) const = default;
};

/// The measured offset between two tiles: the position of tile `b` minus that of tile `a`.
struct Offset {
    int a = 0, b = 0;
    Point offset;         ///< pixels
    Symmetric covariance; ///< px²
};

/// The affine map from stage coordinates to pixels that all tiles share: the angle and the pixel
/// size of the camera, and how far the axes of the stage deviate from a right angle. Row by row.
struct StageMap {
    double a = 1, b = 0, c = 0, d = 1;

    Point operator()(Point stage) const {
        return {a * stage.x + b * stage.y, c * stage.x + d * stage.y};
    }
};

/// Estimates the map from stage coordinates to pixels: the one that minimises the sum of the
/// distances between offsets and mapped differences of the stage. A general linear map if the
/// offsets span both axes, otherwise a rotation with a change of scale; the identity if there are
/// fewer than three offsets.
StageMap stage_map(std::span<const Point> stage, std::span<const Offset> offsets);

struct PositionOptions {
    /// The standard deviation of the stage's error along each axis, in pixels; 0: estimated.
    double stage_error = 0;
    /// Offsets that deviate by more standard deviations from the solution are taken out.
    double most_deviation = 5;
};

/// The positions of tiles, and what was found about the offsets.
struct Positions {
    std::vector<Point> at;             ///< per tile, pixels
    std::vector<Symmetric> covariance; ///< per tile, px², relative to the mean of its island
    std::vector<int> island;           ///< per tile: the number of its connected group of tiles
    int islands = 0;
    std::vector<std::uint8_t> kept; ///< per offset; 0 if it was taken out
    std::vector<double> deviation;  ///< per offset: residual in standard deviations
    std::vector<double> redundancy; ///< per offset, 0 to 1: 0 if no loop verifies it
    StageMap map;                   ///< from stage coordinates to pixels
    Point origin;                   ///< added after the map
    double stage_error = 0;         ///< of the solution along an axis (robust), pixels
    double scale = 1; ///< square root of the reduced χ² of the offsets that were kept
};

/// Solves for the positions of tiles by weighted least squares: Σ (p_b − p_a − d)ᵀ C⁻¹ (p_b − p_a −
/// d) over all offsets, plus Σ |p − (M n + t)|² / σ² over all tiles with stage coordinates n, where
/// M and t are common to all tiles. The second sum determines what the offsets do not: the
/// positions of islands, and of tiles without offsets.
///
/// Offsets that disagree with the others are found by graduated non-convexity: weights 1/(1 +
/// r²/c²)² of the residuals r, with a scale c that decreases to `most_deviation`. They are then
/// taken out, and the others are solved with full weights.
///
/// Input     the stage coordinates of each tile, in pixels; offsets between tiles.
/// Requires  offsets between different tiles, with covariances of positive determinant
///           (InvalidTask).
/// Cost      a few sparse Cholesky factorisations of 2n unknowns, and one selected inverse.
/// Deterministic.
/// Source    graduated non-convexity: Yang et al., IEEE RA-L 5(2), 2020,
///           doi:10.1109/LRA.2020.2965893; selected inverse: Takahashi, Fagan, Chin, PICA 1973
Positions solve_positions(std::span<const Point> stage, std::span<const Offset> offsets,
                          const PositionOptions& options = {});

/// The ratio of the brightness of two tiles, `b` relative to `a`.
struct LevelRatio {
    int a = 0, b = 0;
    double ratio = 1;  ///< positive
    double weight = 1; ///< such as the number of pixels
};

/// Solves for the level of each tile: exp(l) with the least Σ weight (l_b − l_a − log ratio)², and
/// a mean of l of 0 in each group of tiles that ratios connect.
///
/// Requires  ratios between different tiles, positive and with positive weights (InvalidTask).
std::vector<double> solve_levels(std::size_t tiles, std::span<const LevelRatio> ratios);

} // namespace sextant::mosaic
