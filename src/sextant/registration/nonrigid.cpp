// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/nonrigid.hpp"

#include <algorithm>

namespace sextant::registration {

namespace {

constexpr double closest = 64; // control points, of the first grid

/// Above this, neighbouring cells still pull the same way: the grid cannot follow the motion.
constexpr double coherent = 1.8;

double spacing_for(ImageShape image) {
    return std::max(closest, static_cast<double>(std::max(image.width, image.height)) / 8);
}

/// A node for each corner of cells.
DisplacementField empty_field(ImageShape image) {
    const ImageShape cells = kernel::cells_of(image);
    DisplacementField field{
        image, kernel::cell_size, {cells.width + 1, cells.height + 1}, {}, {}, {}, {}};
    field.x.resize(field.count());
    field.y.resize(field.count());
    field.sigma.resize(field.count());
    field.known.resize(field.count());
    return field;
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
    result_.field = empty_field(image);
}

/// The last fit of a pair: on the coarse grid, or on the dense one where that is needed.
SplineFit& NonrigidRegistration::fit(const kernel::SampleView& reference,
                                     const kernel::SampleView& templ, const FieldStart& start) {
    pyramid_.fill(reference, templ);
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
