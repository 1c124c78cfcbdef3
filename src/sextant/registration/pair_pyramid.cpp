// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/pair_pyramid.hpp"

#include "sextant/kernel/filter/slopes.hpp"
#include "sextant/registration/bands.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace sextant::registration {

namespace {

void fill_named(Pyramid& pyramid, const kernel::SampleView& frame, const char* name) {
    try {
        pyramid.fill(frame);
    } catch (const UnusableFrame& error) {
        throw UnusableFrame(std::string(name) + ": " + error.what());
    } catch (const InvalidTask& error) {
        throw InvalidTask(std::string(name) + ": " + error.what());
    }
}

} // namespace

PairPyramid::PairPyramid(ImageShape shape, double prefilter, int levels, Team* team)
    : team_(team),
      reference_(shape, std::clamp(levels, 1, usual_levels(shape)), prefilter, team),
      templ_(shape, reference_.levels(), prefilter, team),
      informative_(shape, prefilter, team) {
    for (int level = 0; level < reference_.levels(); ++level) {
        const ImageShape of_level = reference_.level(level).shape;
        slopes_.push_back({kernel::FloatPlane(of_level), kernel::FloatPlane(of_level)});
    }
}

PairLevel PairPyramid::level(int number) const {
    const Slopes& slopes = slopes_[static_cast<std::size_t>(number)];
    return {reference_.level(number), templ_.level(number), slopes.x.image(), slopes.y.image(),
            std::ldexp(1., number)};
}

void PairPyramid::fill(const kernel::SampleView& reference, const kernel::SampleView& templ) {
    fill_named(reference_, reference, "the reference");
    fill_named(templ_, templ, "the template");
    for (int number = 0; number < levels(); ++number) {
        Slopes& slopes = slopes_[static_cast<std::size_t>(number)];
        const kernel::FloatImage image = reference_.level(number);
        const Bands bands(image.shape.height);
        run_parts(team_, bands.count(), [&](int band, int) {
            kernel::slopes_of_rows(image, bands.first(band), bands.first(band + 1), slopes.x,
                                   slopes.y);
        });
    }
    informative_.look(reference, slopes_[0].x.image(), slopes_[0].y.image(), reference_.scale());
}

} // namespace sextant::registration
