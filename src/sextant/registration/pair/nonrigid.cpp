// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/pair/nonrigid.hpp"

#include <algorithm>
#include <cmath>

namespace sextant::registration {

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

/// Solves the Procrustes problem in the plane: the shift is the mean of φ(x) − c over evenly spaced
/// positions x, and the rotation minimises the squared distances.
RigidMotion nearest_rigid(const Displacement& phi, ImageShape shape) {
    constexpr int places = 16; // number of positions along each axis
    const Point c = centre(shape);
    double sine = 0, cosine = 0, x = 0, y = 0;
    for (int j = 0; j < places; ++j) {
        for (int i = 0; i < places; ++i) {
            const double from_x = ((i + .5) / places - .5) * static_cast<double>(shape.width);
            const double from_y = ((j + .5) / places - .5) * static_cast<double>(shape.height);
            const Point to = phi({c.x + from_x, c.y + from_y});
            x += (to.x - c.x) / (places * places);
            y += (to.y - c.y) / (places * places);
            cosine += from_x * to.x + from_y * to.y;
            sine += from_x * to.y - from_y * to.x;
        }
    }
    return {std::atan2(sine, cosine), x, y};
}

FieldStart start_at(const Displacement& phi, ImageShape shape) {
    const RigidMotion motion = nearest_rigid(phi, shape);
    return {motion, [phi, motion, c = centre(shape)](Point x) {
                const Point to = phi(x), by_motion = apply(motion, x, c);
                return Point{to.x - by_motion.x, to.y - by_motion.y};
            }};
}

Point inverted(const Displacement& phi, const RigidMotion& near, Point centre, Point y) {
    const RigidMotion back = inverse(near);
    Point x = apply(back, y, centre);
    constexpr int most = 30;
    for (int i = 0; i < most; ++i) {
        // Rotate the residual back by the angle of the rigid motion.
        const Point there = phi(x);
        const Point missed{y.x - there.x, y.y - there.y};
        const Point step = apply(RigidMotion{back.alpha, 0, 0}, missed, {0, 0});
        x = {x.x + step.x, x.y + step.y};
        if (std::hypot(step.x, step.y) < 1e-3)
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

constexpr double closest = 64; // least spacing of control points on the first grid, pixels

/// Above this coherence, neighbouring residuals agree, so the grid is too coarse.
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
