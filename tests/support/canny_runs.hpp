// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/distributed/canny.hpp"

#include <cstring>

#include "tests/support/contour_runs.hpp"
#include "tests/support/gradients.hpp"
#include "tests/support/label_references.hpp"

// Edges of images in tiles on any communicator: what the tests over threads and over MPI share.
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

/// Directions by every pattern on every grid, or by every n-th of all these, are those of the
/// reference.
inline void every_pattern_gives_the_serial_edges(const Communicator& communicator, ImageShape shape,
                                                 int every = 1) {
    int turn = 0;
    for (const GradientField& field : gradient_fields(shape)) {
        const kernel::EdgeThresholds thresholds{.4, 2.2};
        const kernel::Edges expected = kernel::canny_reference(field.view(), thresholds);
        for (const Grid& grid : grids_of(communicator.size(), shape)) {
            const Gradient gradient{plane_in_tiles(communicator, grid, field.x),
                                    plane_in_tiles(communicator, grid, field.y)};
            for (const contour::Pattern& pattern : contour::catalogue()) {
                if (turn++ % every != 0)
                    continue;
                const sextant::Image found =
                    distributed::gather(edge_directions(gradient, thresholds, pattern));
                if (communicator.rank() != 0)
                    continue;
                EXPECT_TRUE(
                    std::ranges::equal(found.pixels<kernel::Direction>(), expected.directions))
                    << fmt::format("{} of {}x{} in {}x{} tiles by {}", field.name, shape.width,
                                   shape.height, grid.columns, grid.rows, pattern.name);
            }
        }
    }
}

/// Edges straight from an image's samples are those of its gradient, by thresholds that are too.
inline void edges_of_an_image_are_those_of_its_gradient(const Communicator& communicator,
                                                        ImageShape shape, double sigma) {
    const GradientField waves = gradient_fields(shape)[4];
    for (const Grid& grid : grids_of(communicator.size(), shape)) {
        const distributed::Image image = plane_in_tiles(communicator, grid, waves.x);
        const Gradient gradient = gradient_of(image, sigma);
        const kernel::EdgeThresholds thresholds = quantiles_of(gradient, .5, .8);
        const kernel::EdgeThresholds same = quantiles_of(image, sigma, .5, .8);
        EXPECT_EQ(same.low, thresholds.low);
        EXPECT_EQ(same.high, thresholds.high);
        const contour::Pattern& pattern = contour::find("logp-lev-quad");
        const sextant::Image expected =
            distributed::gather(edge_directions(gradient, thresholds, pattern));
        const sextant::Image found =
            distributed::gather(edge_directions(image, sigma, thresholds, always(pattern)));
        if (communicator.rank() != 0)
            continue;
        EXPECT_TRUE(std::ranges::equal(found.pixels<kernel::Direction>(),
                                       expected.pixels<kernel::Direction>()))
            << fmt::format("{}x{} in {}x{} tiles", shape.width, shape.height, grid.columns,
                           grid.rows);
    }
}

} // namespace sextant::test
