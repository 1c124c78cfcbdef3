// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/pair/family_fit.hpp"

#include "sextant/core/run_control.hpp"
#include "sextant/registration/pair/descent.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

// Model       φ(x) = M(x − c) + c + t with T∘φ ≈ R, up to brightness and contrast.
// Unknowns    a small motion before φ with the parameters p = (t_x, t_y, α, λ, γ₁, γ₂), or the
//             first few of these. The motion displaces x by S(x − c) p; S is slopes_at().
// Residual    e(x) = k (T(φ(x)) − T̄) − (R(x) − R̄), k = σ_R / σ_T (level.hpp).
// Equations   (Σ w SᵀHS) p = Σ w Sᵀs over tiles, S at their centres: s = Σ e ∇R is the score of a
//             tile, H = k Σ ∇R ∇(T∘φ)ᵀ its derivative, and w its weight (weigh_tile()). Both
//             gradients are used because their noise is independent; Σ ∇R ∇Rᵀ would include the
//             noise of R, and steps would be too short.
// Step        φ ← φ ∘ ψ⁻¹, where ψ is the small motion p at which the score vanishes.
// Covariance  H⁻¹VH⁻¹ with the sum H of the left side and V = Σ s sᵀ over squares of 2x2 tiles.
// Source      for the steps and the covariance, see descent.hpp
namespace sextant::registration {

namespace {

constexpr auto most = static_cast<Eigen::Index>(affine_parameters);
/// Vectors and matrices with one entry per parameter of a family, without heap allocation.
using Parameters = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, most, 1>;
using ParameterMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, most, most>;
using Slopes = Eigen::Matrix<double, 2, Eigen::Dynamic, 0, 2, most>;

constexpr int most_steps = 12;
constexpr double left_of_step = .1; // error after a step, relative to the step

/// Returns the derivative of a small motion's displacement at x (from the centre) with respect to
/// its parameters.
Slopes slopes_at(Point x, std::size_t parameters) {
    Eigen::Matrix<double, 2, most> all;
    all << 1, 0, -x.y, x.x, x.x, x.y, //
        0, 1, x.x, x.y, -x.y, x.x;
    return all.leftCols(static_cast<Eigen::Index>(parameters));
}

/// Converts small parameters to an affine motion. The conversion stays within each family: the
/// parameters of a rigid motion, for example, give an exact rigid motion.
AffineMotion small_motion(const Parameters& p) {
    const auto at = [&](Eigen::Index i) { return i < p.size() ? p[i] : 0; };
    const double factor = std::exp(at(3));
    const AffineMotion shear{factor * (1 + at(4)), factor * at(5), factor * at(5),
                             factor * (1 - at(4))};
    AffineMotion motion = compose(as_affine({at(2), 0, 0}), shear);
    motion.tx = at(0);
    motion.ty = at(1);
    return motion;
}

Point centre_of(const Tile& tile) {
    return {static_cast<double>(tile.x) + static_cast<double>(tile.width - 1) / 2,
            static_cast<double>(tile.y) + static_cast<double>(tile.height - 1) / 2};
}

/// Returns the rigid map that equals an affine motion at a position and has the same rotation.
kernel::RigidMap map_near(const AffineMotion& motion, Point at, Point centre) {
    const double alpha = nearest_rigid(motion).alpha;
    const double cosine = std::cos(alpha), sine = std::sin(alpha);
    const Point to = apply(motion, at, centre);
    return {cosine, sine, to.x - (cosine * at.x - sine * at.y),
            to.y - (sine * at.x + cosine * at.y)};
}

/// The score of a tile with respect to a shift, and the derivative of this score.
struct TileEquations {
    Eigen::Vector2d score;
    Eigen::Matrix2d slope;
};

TileEquations equations_of(const kernel::RigidSums& tile, const Similarity& alike) {
    const Score of_tile = score(tile, alike);
    TileEquations equations;
    equations.score << of_tile.by[1], of_tile.by[2];
    equations.slope << tile.jd[3], tile.jd[4], tile.jd[4], tile.jd[5];
    equations.slope *= alike.scale;
    return equations;
}

/// Returns the position of the centre of a tile relative to the centre of rotation.
Point from_centre(const Tile& tile, const Images& images) {
    const Point middle = centre_of(tile);
    return {middle.x - images.centre.x, middle.y - images.centre.y};
}

/// Adds SᵀHS and Sᵀs of a tile to the equations of a step.
void add_tile(const kernel::RigidSums& tile, const Similarity& alike, Point from_centre,
              ParameterMatrix& matrix, Parameters& score) {
    if (tile.count == 0)
        return;
    const Slopes slopes = slopes_at(from_centre, static_cast<std::size_t>(score.size()));
    const TileEquations equations = equations_of(tile, alike);
    matrix += slopes.transpose() * equations.slope * slopes;
    score += slopes.transpose() * equations.score;
}

/// A step of the affine fit; see NewtonStep.
struct SmallStep {
    AffineMotion motion;
    double left = left_of_step;
};

/// Projects a start onto a family.
AffineMotion within(const AffineMotion& start, MotionFamily family) {
    switch (family) {
    case MotionFamily::translation:
        return {1, 0, 0, 1, start.tx, start.ty};
    case MotionFamily::rigid:
        return as_affine(nearest_rigid(start));
    case MotionFamily::similarity: {
        const RigidMotion rigid = nearest_rigid(start);
        const double factor = std::hypot(start.a + start.d, start.c - start.b) / 2;
        const double cosine = factor * std::cos(rigid.alpha), sine = factor * std::sin(rigid.alpha);
        return {cosine, -sine, sine, cosine, start.tx, start.ty};
    }
    case MotionFamily::affine:
        return start;
    }
    return start;
}

AffineMotion scaled(AffineMotion motion, double by) {
    motion.tx *= by;
    motion.ty *= by;
    return motion;
}

} // namespace

std::size_t parameters_of(MotionFamily family) {
    constexpr std::array<std::size_t, 4> counts{2, 3, 4, 6};
    return counts[static_cast<std::size_t>(family)];
}

RigidUncertainty uncertainty_of(const FamilyResult& result) {
    const auto at = [&](std::size_t row, std::size_t column) {
        return result.covariance[row * affine_parameters + column];
    };
    Eigen::Matrix3d before; // in the order α, t_x, t_y
    before << at(2, 2), at(2, 0), at(2, 1), at(0, 2), at(0, 0), at(0, 1), at(1, 2), at(1, 0),
        at(1, 1);
    // A shift applied before φ is mapped by M.
    Eigen::Matrix3d by = Eigen::Matrix3d::Identity();
    by.bottomRightCorner<2, 2>() << result.motion.a, result.motion.b, result.motion.c,
        result.motion.d;
    return uncertainty_with(entries_of(by * before * by.transpose()));
}

FamilyFit::FamilyFit(ImageShape shape, Team* team) : shape_(shape), team_(team) {}

FamilyFit::Level FamilyFit::level_of(const Pyramid& reference, const Pyramid& moved,
                                     int number) const {
    constexpr Elements side = 16;
    Level level;
    level.images = images_of(reference, moved, number);
    level.tiling = {level.images.reference.shape, side};
    level.tiles = level.tiling.tiles();
    // After the usual filter, every second row carries all information (see RigidRegistration).
    level.row_step = number > 0 || reference.prefilter() >= usual_prefilter ? 2 : 1;
    return level;
}

/// Computes the weighted sums of each tile. Returns the unweighted sums over the whole image.
kernel::RigidSums FamilyFit::sums_of_tiles(const Level& level, const AffineMotion& motion) {
    const Elements width = level.tiles.width, height = level.tiles.height;
    tiles_.resize(static_cast<std::size_t>(level.tiles.elements()));
    run_parts(team_, static_cast<int>(height), [&](int row, int) {
        check_cancelled(level.tiling.image.width * level.tiling.side);
        for (Elements column = 0; column < width; ++column) {
            const Tile tile = level.tiling.at(column, row);
            kernel::RigidComparison comparison =
                compare_at(level.images, nearest_rigid(motion), level.row_step);
            comparison.map = map_near(motion, centre_of(tile), level.images.centre);
            tiles_[static_cast<std::size_t>(row * width + column)] =
                kernel::rigid_sums(comparison, tile, kernel::Detail::slopes);
        }
    });
    kernel::RigidSums all;
    for (kernel::RigidSums& tile : tiles_) {
        all += tile;
        weigh_tile(tile);
    }
    return all;
}

FamilyResult FamilyFit::fit_level(const Level& level, const AffineMotion& start,
                                  MotionFamily family, double stop) {
    const std::size_t parameters = parameters_of(family);
    const auto n = static_cast<Eigen::Index>(parameters);
    const ImageShape shape = level.images.reference.shape;
    FamilyResult result;
    result.motion = start;
    result.covariance.fill(std::numeric_limits<double>::infinity());
    Similarity alike;
    const auto evaluate = [&](const AffineMotion& motion) {
        const kernel::RigidSums all = sums_of_tiles(level, motion);
        result.ncc = similarity(all).ncc;
        result.overlap =
            all.count * static_cast<double>(level.row_step) /
            static_cast<double>(
                kernel::with_slopes({0, 0, shape.width, shape.height}, shape).elements());
        alike = similarity(total_of(tiles_));
        return all.count >= least_count(shape, level.row_step);
    };
    const auto step = [&]() -> std::optional<SmallStep> {
        ParameterMatrix matrix = ParameterMatrix::Zero(n, n);
        Parameters score = Parameters::Zero(n);
        for (Elements row = 0; row < level.tiles.height; ++row) {
            for (Elements column = 0; column < level.tiles.width; ++column)
                add_tile(tiles_[static_cast<std::size_t>(row * level.tiles.width + column)], alike,
                         from_centre(level.tiling.at(column, row), level.images), matrix, score);
        }
        const auto p = solved(Eigen::LLT<ParameterMatrix>(matrix), score);
        return p ? std::optional(SmallStep{small_motion(*p)}) : std::nullopt;
    };
    constexpr double lost = .25; // the fit is lost if a step is longer than a quarter of the frame
    const Descent descent =
        descend(result.motion, shape,
                {most_steps, stop, lost * static_cast<double>(std::min(shape.width, shape.height))},
                evaluate, step);
    result.iterations = descent.steps;
    result.converged = descent.converged;
    if (descent.exhausted || (descent.converged && evaluate(result.motion))) {
        add_covariance(result, level, alike, parameters);
        result.misfit = misfit_of(tiles_, level.tiles, alike, parameters);
    }
    return result;
}

/// Sets the covariance of a small motion before φ: the sandwich estimate H⁻¹VH⁻¹, infinite if the
/// frames do not determine the motion. V sums over squares of 2x2 tiles, because filtered noise is
/// hardly correlated between such squares. If noise were white, V would be proportional to (1 −
/// NCC) H.
void FamilyFit::add_covariance(FamilyResult& result, const Level& level, const Similarity& alike,
                               std::size_t parameters) const {
    const auto n = static_cast<Eigen::Index>(parameters);
    ParameterMatrix matrix = ParameterMatrix::Zero(n, n), spread = matrix;
    double seen = 0;
    for (Elements top = 0; top < level.tiles.height; top += 2) {
        for (Elements left = 0; left < level.tiles.width; left += 2) {
            Parameters of_square = Parameters::Zero(n);
            bool known = false;
            for (Elements row = top; row < std::min(top + 2, level.tiles.height); ++row) {
                for (Elements column = left; column < std::min(left + 2, level.tiles.width);
                     ++column) {
                    const kernel::RigidSums& tile =
                        tiles_[static_cast<std::size_t>(row * level.tiles.width + column)];
                    known |= tile.count != 0;
                    add_tile(tile, alike, from_centre(level.tiling.at(column, row), level.images),
                             matrix, of_square);
                }
            }
            spread += of_square * of_square.transpose();
            seen += known;
        }
    }
    auto& covariance = result.covariance;
    const Eigen::LLT<ParameterMatrix> factor(matrix);
    if (factor.info() != Eigen::Success || seen <= static_cast<double>(parameters))
        return;
    covariance.fill(0);
    const Eigen::Matrix2d shift = matrix.topLeftCorner<2, 2>().inverse() * (1 - alike.ncc);
    result.model_covariance = {shift(0, 0), shift(0, 1), shift(1, 0), shift(1, 1)};
    const ParameterMatrix sandwich = covariance_of_fit(factor, spread, seen);
    for (Eigen::Index row = 0; row < n; ++row) {
        for (Eigen::Index column = 0; column < n; ++column)
            covariance[static_cast<std::size_t>(row) * affine_parameters +
                       static_cast<std::size_t>(column)] = sandwich(row, column);
    }
}

FamilyResult FamilyFit::fit(const Pyramid& reference, const Pyramid& moved,
                            const AffineMotion& start, MotionFamily family) {
    AffineMotion motion = within(start, family);
    int iterations = 0;
    if (reference.levels() > 1) {
        constexpr double stop = .05; // the finest level refines the result
        const Level half = level_of(reference, moved, 1);
        const FamilyResult coarse = fit_level(half, scaled(motion, .5), family, stop);
        iterations = coarse.iterations;
        if (coarse.converged)
            motion = scaled(coarse.motion, 2);
    }
    constexpr double stop = .002;
    FamilyResult result = fit_level(level_of(reference, moved, 0), motion, family, stop);
    result.iterations += iterations;
    return result;
}

namespace {

/// A subset of one frame's parameters and their covariance.
struct Part {
    Parameters p;
    ParameterMatrix covariance;
};

/// The small motion M = R(α) exp(λ)(I + γ) as parameters α, λ, γ₁, γ₂.
Eigen::Vector4d linear_parameters(const AffineMotion& motion) {
    const AffineMotion stretch = stretch_of(motion);
    const double factor = (stretch.a + stretch.d) / 2;
    return {nearest_rigid(motion).alpha, std::log(factor), (stretch.a - stretch.d) / 2 / factor,
            (stretch.b + stretch.c) / 2 / factor};
}

/// Returns parameters `first` … `last` − 1 of (α, λ, γ₁, γ₂), conditional on parameters `last` and
/// beyond being 0.
Part part_of(const FamilyResult& frame, Eigen::Index first, Eigen::Index last) {
    const Eigen::Vector4d p = linear_parameters(frame.motion);
    const Eigen::Matrix<double, most, most> all =
        Eigen::Map<const Eigen::Matrix<double, most, most, Eigen::RowMajor>>(
            frame.covariance.data());
    const Eigen::Matrix4d covariance = all.bottomRightCorner<4, 4>();
    Part part{p.segment(first, last - first),
              covariance.block(first, first, last - first, last - first)};
    const Eigen::Index held = 4 - last;
    if (held > 0) {
        const ParameterMatrix cross = covariance.block(first, last, last - first, held);
        const Eigen::LLT<ParameterMatrix> of_held(
            ParameterMatrix(covariance.bottomRightCorner(held, held)));
        part.p -= cross * of_held.solve(Parameters(p.tail(held)));
        part.covariance -= cross * of_held.solve(ParameterMatrix(cross.transpose()));
    }
    return part;
}

/// The evidence of a series that certain parameters are nonzero.
struct Significance {
    double deviations = 0; ///< excess of Σpᵀ C⁻¹p over its expectation, in standard deviations
    double largest = 0;    ///< largest RMS displacement of any frame, pixels
    bool needed = false;
};

Significance significance(std::span<const FamilyResult> frames, ImageShape shape,
                          Eigen::Index first, Eigen::Index last) {
    constexpr double least_deviations = 5, least_displacement = .05;
    const double arm = std::hypot(static_cast<double>(shape.width),
                                  static_cast<double>(shape.height)) /
                       std::sqrt(12); // RMS distance of positions from the centre
    const auto freedom = static_cast<double>(last - first);
    std::vector<double> excess;
    Significance found;
    for (const FamilyResult& frame : frames) {
        const Part part = part_of(frame, first, last);
        const Eigen::LLT<ParameterMatrix> factor(part.covariance);
        if (factor.info() != Eigen::Success || !part.p.allFinite())
            continue;
        const double square = part.p.dot(factor.solve(part.p));
        excess.push_back(square - freedom);
        // Ignore displacements that noise explains.
        if (square > least_deviations * least_deviations)
            found.largest = std::max(found.largest, arm * part.p.norm());
    }
    if (excess.empty())
        return found;
    const auto count = static_cast<double>(excess.size());
    const double deviation = std::sqrt(2 * count * freedom);
    // Limit the contribution of each frame, so that a single wrong registration cannot determine
    // the result for the series.
    const double most_of_one = 1.01 * least_deviations * deviation / std::min(3., count);
    double sum = 0;
    for (const double one : excess) {
        found.deviations += one / deviation;
        sum += std::min(one, most_of_one);
    }
    found.needed = sum > least_deviations * deviation && found.largest > least_displacement;
    return found;
}

std::string text_of(const Significance& found) {
    return fmt::format("by up to {:.2f} pixels (RMS), {:.0f} standard deviations over the series",
                       found.largest, found.deviations);
}

} // namespace

FamilyChoice choose_family(std::span<const FamilyResult> frames, ImageShape shape) {
    if (const Significance shear = significance(frames, shape, 2, 4); shear.needed)
        return {MotionFamily::affine, "shear moves the content " + text_of(shear)};
    if (const Significance size = significance(frames, shape, 1, 2); size.needed)
        return {MotionFamily::similarity,
                "changes of the magnification move the content " + text_of(size)};
    if (const Significance turn = significance(frames, shape, 0, 1); turn.needed)
        return {MotionFamily::rigid, "rotations move the content " + text_of(turn) +
                                         "; changes of shape are not significant"};
    return {MotionFamily::translation,
            "neither rotations nor changes of shape are significant, or they move the content by "
            "less than 0.05 pixels"};
}

} // namespace sextant::registration
