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

NonrigidRegistration::NonrigidRegistration(ImageShape image, NonrigidOptions options)
    : image_(image),
      options_(options),
      pyramid_(image, options.prefilter, options.levels),
      coarse_(image, spacing_for(image), pyramid_, options.fit) {
    result_.field = empty_field(image);
}

const NonrigidResult& NonrigidRegistration::run(const kernel::SampleView& reference,
                                                const kernel::SampleView& templ,
                                                const RigidMotion& start) {
    pyramid_.fill(reference, templ);
    SplineFit* fit = &coarse_;
    result_.fit = fit->run(pyramid_, start);
    result_.refined = result_.fit.coherence > coherent;
    if (result_.refined) {
        if (!dense_)
            dense_.emplace(image_, spacing_for(image_) / 2, pyramid_, options_.fit);
        fit = &*dense_;
        result_.fit = fit->run(pyramid_, start);
    }
    result_.spacing = fit->spacing();
    fit->write(pyramid_, result_.field);
    return result_;
}

} // namespace sextant::registration
