// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/pair/nonrigid.hpp"

#include "sextant/core/run_control.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

// Model       φ(x) = motion(x) + w(x), w(x) = Σ B_i(x) B_j(y) c_ij, with gain · T∘φ + offset ≈ R.
// Residual    e(x) = gain · T(φ(x)) + offset − R(x).
// Equations   (H/v + βK) δ = −(s/v + βKc) for the step c ← c + δ: s = Σ B e ∇T and H = Σ B ∇T∇Tᵀ B
//             over cells. ∇T at φ(x) is ∇R rotated by the motion. The matrix is banded.
// Noise       v = Σ |s_t|² / tr H, where s_t is the score of tile t, not weighted by splines.
// Prior       the energy β cᵀKc / 2 (SplineGrid::energy()). The strength β maximises the evidence:
//             β ← γ / cᵀKc, where γ = n − n₀ − β tr (H/v + βK)⁻¹K is the number of determined
//             coefficients.
// Covariance  (H/v + βK)⁻¹. Only the entries within the band are computed.
// Source      β: MacKay, Neural Comput. 4, 1992, doi:10.1162/neco.1992.4.3.415
namespace sextant::registration {

namespace {

using kernel::cell_size;
using kernel::CellSums;

constexpr std::size_t null_space = 3; // dimension: two shifts and a rotation
constexpr double collapsed = 4;       // with fewer determined coefficients, the fit is rigid
/// Minimum fraction of tiles that must show more than noise. Below it, a field cannot be
/// distinguished from noise.
constexpr double least_shown = 1. / 12;

/// Returns the side, in cells, of the tiles over which scores are summed. The side is 32 pixels,
/// because noise is correlated within this distance, but at most half the spacing of the control
/// points, so that the coefficients determine at most a quarter of the tiles' scores.
Elements side_of_tiles(double spacing, double unit) {
    const auto cells = static_cast<Elements>(spacing / (2 * unit)) / cell_size;
    return std::clamp<Elements>(cells, 1, 4);
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.);
}

/// Clears a cell that shows only noise. On the finest level, also removes the contribution of noise
/// gradients to the tensor, because scores from noise gradients do not grow with the motion.
void weigh(CellSums& cell, double share, bool finest) {
    if (share == 0)
        cell = {};
    if (!finest)
        return;
    const auto signal = static_cast<float>(share);
    cell.xx *= signal;
    cell.xy *= signal;
    cell.yy *= signal;
}

/// True if any cell around a node showed more than noise at the last evaluation.
bool is_known(const std::vector<CellSums>& sums, ImageShape cells, Elements x, Elements y) {
    for (const Elements j : {y - 1, y}) {
        for (const Elements i : {x - 1, x}) {
            const bool is_cell = i >= 0 && j >= 0 && i < cells.width && j < cells.height;
            if (is_cell && sums[static_cast<std::size_t>(j * cells.width + i)].count > 0)
                return true;
        }
    }
    return false;
}

double square_of_score(double x, double y) {
    return x * x + y * y;
}

} // namespace

SplineFit::SplineFit(ImageShape image, double spacing, const PairPyramid& pyramid,
                     SplineFitOptions options, Team* team)
    : options_(options),
      team_(team),
      spacing_(spacing),
      image_(image),
      centre_(centre(image)),
      grid_(std::make_unique<const SplineGrid>(image, spacing)),
      energy_(grid_->energy(options.share_of_strain)),
      matrix_(grid_->unknowns(), grid_->band()),
      cholesky_(grid_->unknowns(), grid_->band(), team),
      coefficients_(grid_->unknowns()),
      score_(grid_->unknowns()),
      direction_(grid_->unknowns()),
      energy_slope_(grid_->unknowns()),
      motion_weights_{score_, score_, score_},
      weak_strength_(static_cast<double>(grid_->unknowns()) /
                     (options.reach * options.reach * energy_.trace())) {
    for (int number = 0; number < pyramid.levels(); ++number) {
        const PairLevel images = pyramid.level(number);
        const bool resolved = 2 * images.unit * static_cast<double>(cell_size) <= spacing;
        if (!resolved && !levels_.empty())
            break;
        SplineCells cells(*grid_, images.reference.shape, images.unit, team);
        const ImageShape shape = cells.cells();
        const auto corners = static_cast<std::size_t>((shape.width + 1) * (shape.height + 1));
        const Elements side = side_of_tiles(spacing, images.unit);
        levels_.push_back(
            {std::move(cells), std::vector<float>(corners), std::vector<float>(corners),
             std::vector<CellSums>(static_cast<std::size_t>(shape.elements())), side,
             std::vector<Found>(static_cast<std::size_t>((shape.height + side - 1) / side))});
    }
}

SplineFit::Found& SplineFit::Found::operator+=(const Found& other) {
    moments += other.moments;
    trace += other.trace;
    of_squares += other.of_squares;
    of_cells += other.of_cells;
    squares += other.squares;
    return *this;
}

/// Computes the sums of all cells that show more than noise at the current coefficients.
void SplineFit::comparison(const PairPyramid& pyramid, std::size_t number) {
    const PairLevel images = pyramid.level(static_cast<int>(number));
    Level& level = levels_[number];
    level.cells.displacements(coefficients_, motion_, centre_, level.u_x, level.u_y);
    const kernel::CellComparison comparison{
        images.reference, images.slope_x,   images.slope_y, images.templ,
        level.u_x.data(), level.u_y.data(), gain_,          offset_};
    run_parts(team_, static_cast<int>(level.found.size()), [&](int row, int) {
        check_cancelled(images.reference.shape.width * cell_size);
        level.found[static_cast<std::size_t>(row)] =
            compare_cells(comparison, number, row, pyramid.informative());
    });
    Found all;
    for (const Found& row : level.found)
        all += row;
    moments_ = all.moments;
    level.cells.normal_equations(matrix_, score_);
    const Elements side = level.tile_side;
    const ImageShape cells = level.cells.cells();
    estimate_noise(all, (cells.width + side - 1) / side * std::ssize(level.found));
}

/// Evaluates a row of tiles: accumulates the sums of its cells at control points, and sums over
/// each tile.
SplineFit::Found SplineFit::compare_cells(const kernel::CellComparison& comparison,
                                          std::size_t number, Elements row,
                                          const InformativeTiles& tiles) {
    Level& level = levels_[number];
    const ImageShape cells = level.cells.cells();
    const Elements pixels = cell_size << number, side = level.tile_side;
    const Elements top = row * side, bottom = std::min(top + side, cells.height);
    Found found;
    for (Elements j = top; j < bottom; ++j) {
        const std::span<CellSums> of_row(&level.sums[static_cast<std::size_t>(j * cells.width)],
                                         static_cast<std::size_t>(cells.width));
        found.moments += cell_sums(comparison, j, of_row);
        for (Elements i = 0; i < cells.width; ++i) {
            CellSums& cell = of_row[static_cast<std::size_t>(i)];
            weigh(cell, tiles.signal(i * pixels, j * pixels), number == 0);
            found.trace += static_cast<double>(cell.xx + cell.yy);
            found.of_cells += square_of_score(cell.x, cell.y);
        }
        level.cells.take_row(static_cast<std::size_t>(j), of_row, motion_.alpha);
    }
    for (Elements left = 0; left < cells.width; left += side) {
        double x = 0, y = 0;
        float seen = 0;
        for (Elements j = top; j < bottom; ++j) {
            for (Elements i = left; i < std::min(left + side, cells.width); ++i) {
                const CellSums& cell = level.sums[static_cast<std::size_t>(j * cells.width + i)];
                x += static_cast<double>(cell.x);
                y += static_cast<double>(cell.y);
                seen += cell.count;
            }
        }
        found.of_squares += square_of_score(x, y);
        found.squares += seen > 0;
    }
    return found;
}

/// Estimates the noise v and the coherence. Also estimates the gain and offset for the next
/// evaluation, which match the mean and variance of T∘φ to those of R.
void SplineFit::estimate_noise(const Found& found, Elements tiles) {
    shown_ = found.squares / static_cast<double>(tiles);
    // Correct for the degrees of freedom of the coefficients; each tile's score has two components.
    const double left = std::max(1 - report_.freedom / std::max(2 * found.squares, 1.), .25);
    // The noise of neighbouring cells is not negatively correlated. If Σ|s|² over tiles is smaller
    // than over cells, the coefficients fit the noise of the few informative tiles.
    const double squares = std::max(found.of_squares / left, found.of_cells);
    report_.noise = found.trace > 0 ? std::max(squares / found.trace, 1e-12) : 1;
    report_.coherence = found.of_squares > 0 ? found.of_squares / left / found.of_cells : 0;
    const double n = moments_.count;
    const double variance_r = moments_.rr - moments_.r * moments_.r / n;
    const double variance_t = moments_.tt - moments_.t * moments_.t / n;
    if (n > 0 && variance_r > 0 && variance_t > 0) {
        const double gain = known_gain_.value_or(std::sqrt(variance_r / variance_t));
        gain_ = static_cast<float>(gain);
        offset_ = static_cast<float>((moments_.r - gain * moments_.t) / n);
    }
}

/// Returns the NCC over the overlap.
double SplineFit::correlation() const {
    const double n = moments_.count;
    const double rr = moments_.rr - moments_.r * moments_.r / n;
    const double tt = moments_.tt - moments_.t * moments_.t / n;
    return n > 0 && rr > 0 && tt > 0
               ? (moments_.rt - moments_.r * moments_.t / n) / std::sqrt(rr * tt)
               : 0;
}

/// Takes one Gauss-Newton step. Returns false if the step is small enough to stop or its equations
/// cannot be solved.
bool SplineFit::step() {
    if (estimates_strength_ && shown_ < least_shown)
        return false;
    const double data = 1 / report_.noise;
    energy_.multiply(coefficients_, energy_slope_);
    for (std::size_t i = 0; i < direction_.size(); ++i)
        direction_[i] = -(score_[i] * data + report_.strength * energy_slope_[i]);
    if (!cholesky_.factorise(data, matrix_, report_.strength, energy_))
        return false;
    cholesky_.solve(direction_);
    for (std::size_t i = 0; i < direction_.size(); ++i)
        coefficients_[i] += direction_[i];
    ++report_.steps;
    if (weak_steps_left_ > 0)
        --weak_steps_left_;
    else
        estimate_strength();
    const auto points = static_cast<double>(direction_.size() / 2);
    return weak_steps_left_ > 0 || std::sqrt(dot(direction_, direction_) / points) >= options_.stop;
}

void SplineFit::estimate_strength() {
    const auto free = static_cast<double>(coefficients_.size() - null_space);
    const double held = report_.strength * trace_of_product(cholesky_.inverse(), energy_);
    report_.freedom = std::max(free - held, 0.);
    if (!estimates_strength_)
        return;
    energy_.multiply(coefficients_, energy_slope_);
    const double energy = dot(coefficients_, energy_slope_);
    // Keep the strength of the prior if the data determine no coefficient or the field has no
    // energy.
    if (energy > 0 && report_.freedom > 0)
        report_.strength = std::max(report_.freedom / energy, weak_strength_);
}

void SplineFit::begin_at(const FieldStart& start) {
    motion_ = start.motion;
    std::fill(coefficients_.begin(), coefficients_.end(), 0);
    if (start.beyond)
        bring_onto_grid(start.beyond);
}

/// Fits the coefficients to a field at the centres of cells, by least squares.
void SplineFit::bring_onto_grid(const Displacement& field) {
    Level& level = levels_.front();
    const ImageShape cells = level.cells.cells();
    constexpr double middle = static_cast<double>(cell_size - 1) / 2;
    run_parts(team_, static_cast<int>(cells.height), [&](int row, int) {
        const std::span<CellSums> of_row(&level.sums[static_cast<std::size_t>(row * cells.width)],
                                         static_cast<std::size_t>(cells.width));
        for (Elements column = 0; column < cells.width; ++column) {
            const Point w = field({static_cast<double>(column * cell_size) + middle,
                                   static_cast<double>(row * cell_size) + middle});
            of_row[static_cast<std::size_t>(column)] = {
                1, 1, 0, 1, static_cast<float>(w.x), static_cast<float>(w.y)};
        }
        level.cells.take_row(static_cast<std::size_t>(row), of_row, 0);
    });
    level.cells.normal_equations(matrix_, coefficients_);
    // A tiny fraction of the energy determines coefficients that no cell depends on.
    const double little = 1e-6 * matrix_.trace() / energy_.trace();
    if (cholesky_.factorise(1, matrix_, little, energy_))
        cholesky_.solve(coefficients_);
    else
        std::fill(coefficients_.begin(), coefficients_.end(), 0);
}

SplineFitReport SplineFit::run(const PairPyramid& pyramid, const FieldStart& start) {
    begin_at({start.motion});
    report_ = {};
    known_gain_ = {};
    if (start.gain)
        known_gain_ = *start.gain * pyramid.scale_ratio();
    gain_ = static_cast<float>(known_gain_.value_or(1));
    offset_ = 0;
    comparison(pyramid, 0);
    const double before = correlation();
    begin_at(start);
    estimates_strength_ = !start.strength;
    report_.strength = start.strength.value_or(0);
    weak_steps_left_ = 0;
    constexpr std::size_t near = 2; // number of levels to fit when starting from a field
    for (std::size_t k = start.beyond ? std::min(near, levels_.size()) : levels_.size(); k-- > 0;) {
        // A level without information about the motion ends with a prior so strong that all
        // coefficients are fixed. Restart from the weak prior.
        if (estimates_strength_ && report_.freedom < collapsed) {
            report_.strength = weak_strength_;
            weak_steps_left_ = start.beyond ? 1 : options_.weak_steps;
        }
        for (int i = 0; i < options_.steps; ++i) {
            comparison(pyramid, k);
            if (!step())
                break;
        }
    }
    comparison(pyramid, 0);
    report_.ncc_before = before;
    report_.ncc_after = correlation();
    const auto pixels = pyramid.level(0).reference.shape.elements();
    report_.overlap = moments_.count / static_cast<double>(pixels);
    return report_;
}

/// Propagates the covariance of the coefficients to the parameters of the rigid motion nearest to
/// the field, using the current factorisation. The parameters are linear in the displacement w: the
/// shift is the mean of w, and the rotation is the mean of w · d(R(α)x)/dα divided by the mean of
/// ‖x‖².
std::array<double, 9> SplineFit::covariance_of_motion() {
    constexpr int positions = 16; // positions along each axis, as in nearest_rigid()
    const double cosine = std::cos(motion_.alpha), sine = std::sin(motion_.alpha);
    std::array<std::vector<double>, 3>& weights = motion_weights_;
    for (std::vector<double>& of_parameter : weights)
        std::fill(of_parameter.begin(), of_parameter.end(), 0);
    double squares = 0;
    for (int row = 0; row < positions; ++row) {
        for (int column = 0; column < positions; ++column) {
            const double x = ((column + .5) / positions - .5) * static_cast<double>(image_.width);
            const double y = ((row + .5) / positions - .5) * static_cast<double>(image_.height);
            const SplineBasis along_x = grid_->along_x(centre_.x + x);
            const SplineBasis along_y = grid_->along_y(centre_.y + y);
            squares += x * x + y * y;
            for (std::size_t j = 0; j < 4; ++j) {
                for (std::size_t i = 0; i < 4; ++i) {
                    const std::size_t at = grid_->unknown(along_x.first + i, along_y.first + j);
                    const double weight = along_x.weight[i] * along_y.weight[j];
                    weights[0][at] -= weight * (sine * x + cosine * y);
                    weights[0][at + 1] += weight * (cosine * x - sine * y);
                    weights[1][at] += weight / (positions * positions);
                    weights[2][at + 1] += weight / (positions * positions);
                }
            }
        }
    }
    for (double& weight : weights[0])
        weight /= squares;
    std::array<double, 9> covariance{};
    for (std::size_t a = 0; a < weights.size(); ++a) {
        direction_ = weights[a];
        cholesky_.solve(direction_);
        for (std::size_t b = 0; b < weights.size(); ++b)
            covariance[3 * a + b] = dot(weights[b], direction_);
    }
    return covariance;
}

void SplineFit::write(DisplacementField& field) {
    Level& level = levels_[0];
    level.cells.displacements(coefficients_, motion_, centre_, field.x, field.y);
    if (matrix_.trace() > 0 &&
        cholesky_.factorise(1 / report_.noise, matrix_, report_.strength, energy_)) {
        report_.covariance = covariance_of_motion();
        level.cells.deviations(cholesky_.inverse(), field.sigma);
    } else {
        constexpr double unknown = std::numeric_limits<double>::infinity();
        report_.covariance = {unknown, 0, 0, 0, unknown, 0, 0, 0, unknown};
        std::fill(field.sigma.begin(), field.sigma.end(), std::numeric_limits<float>::infinity());
    }
    run_parts(team_, static_cast<int>(field.nodes.height), [&](int y, int) {
        for (Elements x = 0; x < field.nodes.width; ++x)
            field.known[static_cast<std::size_t>(y * field.nodes.width + x)] =
                is_known(level.sums, level.cells.cells(), x, y);
    });
}

Point SplineMotion::operator()(Point x) const {
    Point to = apply(motion, x, centre);
    if (coefficients.empty())
        return to;
    const SplineBasis along_x = grid->along_x(x.x), along_y = grid->along_y(x.y);
    for (std::size_t j = 0; j < 4; ++j) {
        for (std::size_t i = 0; i < 4; ++i) {
            const std::size_t at = grid->unknown(along_x.first + i, along_y.first + j);
            const double weight = along_x.weight[i] * along_y.weight[j];
            to.x += weight * static_cast<double>(coefficients[at]);
            to.y += weight * static_cast<double>(coefficients[at + 1]);
        }
    }
    return to;
}

/// Solves the planar Procrustes problem: the shift is the mean of φ(x) − c over evenly spaced
/// positions x, and the rotation minimises the squared distances.
RigidMotion nearest_rigid(const Displacement& phi, ImageShape shape) {
    constexpr int positions = 16; // number of positions along each axis
    const Point c = centre(shape);
    double sine = 0, cosine = 0, x = 0, y = 0;
    for (int j = 0; j < positions; ++j) {
        for (int i = 0; i < positions; ++i) {
            const double from_x = ((i + .5) / positions - .5) * static_cast<double>(shape.width);
            const double from_y = ((j + .5) / positions - .5) * static_cast<double>(shape.height);
            const Point to = phi({c.x + from_x, c.y + from_y});
            x += (to.x - c.x) / (positions * positions);
            y += (to.y - c.y) / (positions * positions);
            cosine += from_x * to.x + from_y * to.y;
            sine += from_x * to.y - from_y * to.x;
        }
    }
    return {std::atan2(sine, cosine), x, y};
}

FieldStart start_at(const Displacement& phi, ImageShape shape) {
    const RigidMotion motion = nearest_rigid(phi, shape);
    return {motion,
            [phi, motion, c = centre(shape)](Point x) { return phi(x) - apply(motion, x, c); }};
}

Point inverted(const Displacement& phi, const RigidMotion& near, Point centre, Point y) {
    const RigidMotion back = inverse(near);
    Point x = apply(back, y, centre);
    constexpr int most = 30;
    for (int i = 0; i < most; ++i) {
        // Rotate the residual back by the angle of the rigid motion.
        const Point step = apply(RigidMotion{back.alpha, 0, 0}, y - phi(x), {0, 0});
        x = x + step;
        if (distance(step, {}) < 1e-3)
            break;
    }
    return x;
}

DisplacementField field_of_cells(ImageShape image) {
    const ImageShape cells = kernel::cells_of(image);
    DisplacementField field{
        image, kernel::cell_size, {cells.width + 1, cells.height + 1}, {}, {}, {}, {}};
    field.x.resize(field.count());
    field.y.resize(field.count());
    field.sigma.resize(field.count());
    field.known.resize(field.count());
    return field;
}

namespace {

constexpr double closest = 64; // minimum spacing of control points on the coarse grid, pixels

/// Above this coherence, residuals of neighbouring cells agree, so the grid is too coarse.
constexpr double coherent = 1.8;

double spacing_for(ImageShape image) {
    return std::max(closest, static_cast<double>(std::max(image.width, image.height)) / 8);
}

} // namespace

std::size_t most_coefficients(ImageShape image) {
    return SplineGrid(image, spacing_for(image) / 2).unknowns();
}

NonrigidRegistration::NonrigidRegistration(ImageShape image, NonrigidOptions options, Team* team)
    : image_(image),
      team_(team),
      grid_(std::make_shared<const SplineGrid>(image, spacing_for(image))),
      dense_grid_(std::make_shared<const SplineGrid>(image, spacing_for(image) / 2)),
      options_(options),
      pyramid_(image, options.prefilter, options.levels, team),
      coarse_(image, spacing_for(image), pyramid_, options.fit, team) {
    result_.field = field_of_cells(image);
}

/// Fits a pair. Returns the fit on the coarse grid or, if that grid is too coarse, on the dense
/// one.
SplineFit& NonrigidRegistration::fit(const kernel::SampleView& reference,
                                     const kernel::SampleView& templ, const FieldStart& start) {
    pyramid_.fill(reference, templ, start.of_average);
    result_.fit = coarse_.run(pyramid_, start);
    result_.refined = result_.fit.coherence > coherent;
    if (!result_.refined)
        return coarse_;
    if (!dense_)
        dense_.emplace(image_, spacing_for(image_) / 2, pyramid_, options_.fit, team_);
    result_.fit = dense_->run(pyramid_, start);
    return *dense_;
}

const NonrigidResult& NonrigidRegistration::run(const kernel::SampleView& reference,
                                                const kernel::SampleView& templ,
                                                const FieldStart& start) {
    SplineFit& found = fit(reference, templ, start);
    result_.spacing = found.spacing();
    found.write(result_.field);
    result_.fit = found.report();
    return result_;
}

SplineMotion NonrigidRegistration::find(const kernel::SampleView& reference,
                                        const kernel::SampleView& templ, const FieldStart& start) {
    const SplineFit& found = fit(reference, templ, start);
    return motion_of(found, result_.refined);
}

SplineMotion NonrigidRegistration::as_spline(const FieldStart& start) {
    coarse_.begin_at(start);
    return motion_of(coarse_, false);
}

SplineMotion NonrigidRegistration::motion_of(const SplineFit& fit, bool dense) const {
    SplineMotion made{fit.motion(), {}, dense ? dense_grid_ : grid_, centre(image_)};
    for (const double coefficient : fit.coefficients())
        made.coefficients.push_back(static_cast<float>(coefficient));
    return made;
}

std::shared_ptr<const SplineGrid> NonrigidRegistration::grid_of(std::size_t coefficients) const {
    for (const auto& grid : {grid_, dense_grid_}) {
        if (grid->unknowns() == coefficients)
            return grid;
    }
    return nullptr;
}

} // namespace sextant::registration
