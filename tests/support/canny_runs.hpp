// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/contours/canny.hpp"

#include <cstring>

#include "tests/support/contour_runs.hpp"
#include "tests/support/gradients.hpp"
#include "tests/support/label_references.hpp"

// Edges of images in tiles on any communicator: shared by the tests over threads and over MPI.
namespace sextant::test {

inline distributed::Image plane_in_tiles(const Communicator& communicator, const Grid& grid,
                                         const std::vector<float>& plane) {
    distributed::Image image(communicator, grid, gray_f32);
    const Tile own = image.tile();
    for (Elements y = 0; y < own.height && own.width > 0; ++y)
        std::memcpy(image.bytes().data() + y * own.width * gray_f32.size,
                    plane.data() + (own.y + y) * grid.width + own.x,
                    static_cast<std::size_t>(own.width * gray_f32.size));
    return image;
}

/// Gradient of a whole image, smoothed by `sigma`; the image is the field's x component.
inline GradientField gradient_of(const GradientField& image, double sigma) {
    const ImageShape shape = image.shape;
    GradientField field{image.name, shape, image.x, image.x};
    const kernel::SampleView view{image.x.data(), shape.width, whole_of(shape), shape};
    const kernel::Derivative derivatives[] = {{1, 0}, {0, 1}};
    const kernel::Plane planes[] = {{field.x.data(), shape.width}, {field.y.data(), shape.width}};
    kernel::GaussianDerivatives(sigma, derivatives).apply(view, whole_of(shape), planes);
    return field;
}

/// Expects every pattern on every grid, or every n-th combination, to give the edge directions of
/// the reference.
inline void every_pattern_gives_the_serial_edges(const Communicator& communicator, ImageShape shape,
                                                 int every = 1, double sigma = 1) {
    int turn = 0;
    for (const GradientField& picture : gradient_fields(shape)) {
        const kernel::EdgeThresholds thresholds{.05, .3};
        const kernel::Edges expected =
            kernel::canny_reference(gradient_of(picture, sigma).view(), thresholds);
        for (const Grid& grid : grids_of(communicator.size(), shape)) {
            const distributed::Image image = plane_in_tiles(communicator, grid, picture.x);
            for (const contour::Pattern& pattern : contour::catalogue()) {
                if (turn++ % every != 0)
                    continue;
                const sextant::Image found =
                    distributed::gather(edge_directions(image, sigma, thresholds, always(pattern)));
                if (communicator.rank() != 0)
                    continue;
                EXPECT_TRUE(
                    std::ranges::equal(found.pixels<kernel::Direction>(), expected.directions))
                    << fmt::format("{} of {}x{} in {}x{} tiles by {}", picture.name, shape.width,
                                   shape.height, grid.columns, grid.rows, pattern.name);
            }
        }
    }
}

/// Expects an image in tiles to give the quantiles of the whole image's gradient magnitude.
inline void quantiles_are_those_of_the_whole_image(const Communicator& communicator,
                                                   ImageShape shape, double sigma) {
    const GradientField waves = gradient_fields(shape)[4];
    const GradientField gradient = gradient_of(waves, sigma);
    std::vector<float> lengths(gradient.x.size());
    kernel::lengths(gradient.x.data(), gradient.y.data(), shape.elements(), lengths.data());
    std::ranges::sort(lengths);
    const auto at = [&](double share) {
        return lengths[static_cast<std::size_t>(share * static_cast<double>(lengths.size() - 1))];
    };
    for (const Grid& grid : grids_of(communicator.size(), shape)) {
        const distributed::Image image = plane_in_tiles(communicator, grid, waves.x);
        const kernel::EdgeThresholds found = quantiles_of(image, sigma, .5, .8);
        EXPECT_EQ(found.low, at(.5));
        EXPECT_EQ(found.high, at(.8));
    }
}

} // namespace sextant::test
