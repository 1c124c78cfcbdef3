// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/spline_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace sextant::registration {

namespace {

using kernel::cell_size;
using kernel::CellSums;

constexpr std::size_t null_space = 2; // of the energy: shifts
constexpr double collapsed = 4;       // so few coefficients decided mean a rigid motion

/// How many cells a square is wide over which scores are summed: 32 pixels, within which noise is
/// correlated, or so few that the coefficients decide no more than a quarter of the squares.
Elements side_of_tiles(double spacing, double unit) {
    const auto cells = static_cast<Elements>(spacing / (2 * unit)) / cell_size;
    return std::clamp<Elements>(cells, 1, 4);
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.);
}

/// Over squares of so many cells, of which each is part of one.
struct Scores {
    double squares = 0; ///< Σ|s|²
    double count = 0;   ///< of squares that show something
};

Scores scores_of(const std::vector<CellSums>& sums, ImageShape cells, Elements side) {
    Scores scores;
    for (Elements top = 0; top < cells.height; top += side) {
        for (Elements left = 0; left < cells.width; left += side) {
            double x = 0, y = 0;
            float pixels = 0;
            for (Elements j = top; j < std::min(top + side, cells.height); ++j) {
                for (Elements i = left; i < std::min(left + side, cells.width); ++i) {
                    const CellSums& cell = sums[static_cast<std::size_t>(j * cells.width + i)];
                    x += static_cast<double>(cell.x);
                    y += static_cast<double>(cell.y);
                    pixels += cell.count;
                }
            }
            scores.squares += x * x + y * y;
            scores.count += pixels > 0 ? 1 : 0;
        }
    }
    return scores;
}

/// Leaves out a cell that shows noise alone. On the finest level the part of the tensor that is the
/// slopes of noise is taken off: it says nothing of the motion, and scores do not grow with it.
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

double trace_of_tensors(const std::vector<CellSums>& sums) {
    double trace = 0;
    for (const CellSums& cell : sums)
        trace += static_cast<double>(cell.xx + cell.yy);
    return trace;
}

} // namespace

SplineFit::SplineFit(ImageShape image, double spacing, const PairPyramid& pyramid,
                     SplineFitOptions options, Team* team)
    : options_(options),
      team_(team),
      spacing_(spacing),
      centre_(centre(image)),
      grid_(std::make_unique<const SplineGrid>(image, spacing)),
      energy_(grid_->energy(options.share_of_dirichlet)),
      matrix_(grid_->unknowns(), grid_->band()),
      cholesky_(grid_->unknowns(), grid_->band()),
      coefficients_(grid_->unknowns()),
      score_(grid_->unknowns()),
      direction_(grid_->unknowns()),
      energy_slope_(grid_->unknowns()),
      weak_strength_(static_cast<double>(grid_->unknowns()) /
                     (options.reach * options.reach * energy_.trace())) {
    for (int number = 0; number < pyramid.levels(); ++number) {
        const PairLevel images = pyramid.level(number);
        const bool resolved = 2 * images.unit * static_cast<double>(cell_size) <= spacing;
        if (!resolved && !levels_.empty())
            break;
        SplineCells cells(*grid_, images.reference.shape, images.unit);
        const ImageShape shape = cells.cells();
        const auto corners = static_cast<std::size_t>((shape.width + 1) * (shape.height + 1));
        levels_.push_back({std::move(cells), std::vector<float>(corners),
                           std::vector<float>(corners),
                           std::vector<CellSums>(static_cast<std::size_t>(shape.elements())),
                           std::vector<kernel::FitMoments>(static_cast<std::size_t>(shape.height)),
                           side_of_tiles(spacing, images.unit)});
    }
}

/// The sums of all cells at the coefficients; those that show noise alone are left out.
void SplineFit::look(const PairPyramid& pyramid, std::size_t number) {
    const PairLevel images = pyramid.level(static_cast<int>(number));
    const InformativeTiles& tiles = pyramid.informative();
    Level& level = levels_[number];
    level.cells.displacements(coefficients_, motion_, centre_, level.u_x, level.u_y);
    const kernel::CellLook look{images.reference, images.slope_x,   images.slope_y, images.templ,
                                level.u_x.data(), level.u_y.data(), gain_,          offset_};
    const ImageShape cells = level.cells.cells();
    const auto pixels = static_cast<Elements>(images.unit) * cell_size;
    run_parts(team_, static_cast<int>(cells.height), [&](int row, int) {
        const auto first = static_cast<std::size_t>(row * cells.width);
        const std::span<CellSums> to(&level.sums[first], static_cast<std::size_t>(cells.width));
        level.moments[static_cast<std::size_t>(row)] = cell_sums(look, row, to);
        for (Elements column = 0; column < cells.width; ++column) {
            weigh(to[static_cast<std::size_t>(column)], tiles.share(column * pixels, row * pixels),
                  number == 0);
        }
    });
    moments_ = {};
    for (const kernel::FitMoments& row : level.moments)
        moments_ += row;
    level.cells.normal_equations(level.sums, motion_.alpha, matrix_, score_);
    estimate_noise(level);
}

/// v and the coherence, and the gain and offset that make the means and variances of T∘φ those of R
/// at the next look.
void SplineFit::estimate_noise(const Level& level) {
    const ImageShape cells = level.cells.cells();
    const double trace = trace_of_tensors(level.sums);
    const Scores tiles = scores_of(level.sums, cells, level.tile_side);
    // What the coefficients decide is taken out of the scores' two components.
    const double left = std::max(1 - report_.freedom / std::max(2 * tiles.count, 1.), .25);
    report_.noise = trace > 0 ? std::max(tiles.squares / (trace * left), 1e-12) : 1;
    report_.coherence =
        tiles.squares > 0 ? tiles.squares / left / scores_of(level.sums, cells, 1).squares : 0;
    const double n = moments_.count;
    const double variance_r = moments_.rr - moments_.r * moments_.r / n;
    const double variance_t = moments_.tt - moments_.t * moments_.t / n;
    if (n > 0 && variance_r > 0 && variance_t > 0) {
        const double gain = std::sqrt(variance_r / variance_t);
        gain_ = static_cast<float>(gain);
        offset_ = static_cast<float>((moments_.r - gain * moments_.t) / n);
    }
}

/// NCC over the overlap.
double SplineFit::correlation() const {
    const double n = moments_.count;
    const double rr = moments_.rr - moments_.r * moments_.r / n;
    const double tt = moments_.tt - moments_.t * moments_.t / n;
    return n > 0 && rr > 0 && tt > 0
               ? (moments_.rt - moments_.r * moments_.t / n) / std::sqrt(rr * tt)
               : 0;
}

/// One Gauss-Newton step. False once steps are small, or where nothing determines one.
bool SplineFit::step() {
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

/// Of the last one, RMS in pixels: of the field, since coefficients beyond the border hardly touch
/// it.
double SplineFit::length_of_step() {
    Level& level = levels_.back();
    level.cells.displacements(direction_, {}, {}, level.u_x, level.u_y);
    const auto square = [](double sum, float u) { return sum + static_cast<double>(u * u); };
    const double squares = std::accumulate(level.u_x.begin(), level.u_x.end(), 0., square) +
                           std::accumulate(level.u_y.begin(), level.u_y.end(), 0., square);
    return level.cells.unit() * std::sqrt(squares / static_cast<double>(level.u_x.size()));
}

void SplineFit::estimate_strength() {
    const auto free = static_cast<double>(coefficients_.size() - null_space);
    const double held = report_.strength * trace_of_product(cholesky_.inverse(), energy_);
    report_.freedom = std::max(free - held, 0.);
    energy_.multiply(coefficients_, energy_slope_);
    const double energy = dot(coefficients_, energy_slope_);
    // Where neither data nor field say anything, the prior stays as it is.
    if (energy > 0 && report_.freedom > 0)
        report_.strength = std::max(report_.freedom / energy, weak_strength_);
}

void SplineFit::begin_at(const FieldStart& start) {
    motion_ = start.motion;
    std::fill(coefficients_.begin(), coefficients_.end(), 0);
    if (start.beyond)
        bring_onto_grid(start.beyond);
}

/// The coefficients nearest to a field, by the middles of cells.
void SplineFit::bring_onto_grid(const Displacement& field) {
    Level& level = levels_.front();
    const ImageShape cells = level.cells.cells();
    constexpr double middle = static_cast<double>(cell_size - 1) / 2;
    for (Elements row = 0; row < cells.height; ++row) {
        for (Elements column = 0; column < cells.width; ++column) {
            const Point w = field({static_cast<double>(column * cell_size) + middle,
                                   static_cast<double>(row * cell_size) + middle});
            level.sums[static_cast<std::size_t>(row * cells.width + column)] = {
                1, 1, 0, 1, static_cast<float>(w.x), static_cast<float>(w.y)};
        }
    }
    level.cells.normal_equations(level.sums, 0, matrix_, coefficients_);
    // So little of the energy that only what no cell decides is decided by it.
    const double little = 1e-6 * matrix_.trace() / energy_.trace();
    if (cholesky_.factorise(1, matrix_, little, energy_))
        cholesky_.solve(coefficients_);
    else
        std::fill(coefficients_.begin(), coefficients_.end(), 0);
}

SplineFitReport SplineFit::run(const PairPyramid& pyramid, const FieldStart& start) {
    begin_at({start.motion});
    report_ = {};
    gain_ = 1;
    offset_ = 0;
    look(pyramid, 0);
    const double before = correlation();
    begin_at(start);
    constexpr std::size_t near = 2; // levels to go on from a field
    for (std::size_t k = start.beyond ? std::min(near, levels_.size()) : levels_.size(); k-- > 0;) {
        // A level that shows nothing of the motion ends with a prior that holds everything.
        if (report_.freedom < collapsed) {
            report_.strength = weak_strength_;
            weak_steps_left_ = start.beyond ? 1 : options_.weak_steps;
        }
        for (int i = 0; i < options_.steps; ++i) {
            look(pyramid, k);
            if (!step())
                break;
        }
    }
    look(pyramid, 0);
    report_.ncc_before = before;
    report_.ncc_after = correlation();
    const auto pixels = pyramid.level(0).reference.shape.elements();
    report_.overlap = moments_.count / static_cast<double>(pixels);
    return report_;
}

void SplineFit::write(const PairPyramid& pyramid, DisplacementField& field) {
    Level& level = levels_[0];
    level.cells.displacements(coefficients_, motion_, centre_, field.x, field.y);
    if (matrix_.trace() > 0 &&
        cholesky_.factorise(1 / report_.noise, matrix_, report_.strength, energy_))
        level.cells.deviations(cholesky_.inverse(), field.sigma);
    else
        std::fill(field.sigma.begin(), field.sigma.end(), std::numeric_limits<float>::infinity());
    const ImageShape cells = level.cells.cells();
    for (std::size_t node = 0; node < field.count(); ++node) {
        const auto x = static_cast<Elements>(node) % field.nodes.width;
        const auto y = static_cast<Elements>(node) / field.nodes.width;
        bool known = false;
        for (const Elements j : {y - 1, y}) {
            for (const Elements i : {x - 1, x}) {
                if (i >= 0 && j >= 0 && i < cells.width && j < cells.height)
                    known = known || pyramid.informative().share(i * cell_size, j * cell_size) > 0;
            }
        }
        field.known[node] = known;
    }
}

} // namespace sextant::registration
