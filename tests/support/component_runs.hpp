// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/distributed/components.hpp"

#include "tests/support/contour_runs.hpp"
#include "tests/support/label_references.hpp"
#include "tests/support/shapes.hpp"

// Components of images in tiles on any communicator: what the tests over threads and over MPI
// share.
namespace sextant::test {

inline distributed::Image in_tiles(const Communicator& communicator, const Grid& grid,
                                   const Shape& shape) {
    distributed::Image image(communicator, grid, gray_u8);
    const Tile own = image.tile();
    for (Elements y = 0; y < own.height; ++y)
        for (Elements x = 0; x < own.width; ++x)
            image.bytes()[static_cast<std::size_t>(y * own.width + x)] = std::byte(
                shape.samples[static_cast<std::size_t>((own.y + y) * grid.width + own.x + x)]);
    return image;
}

/// Labels and components are those of the whole image, to the bit.
inline void gives_the_serial_labels(const Communicator& communicator, const Grid& grid,
                                    const Shape& shape, kernel::Connection connection,
                                    const contour::Pattern& pattern,
                                    const kernel::Labelling& expected) {
    const std::string what =
        fmt::format("{} of {}x{} in {}x{} tiles by {}, {} neighbours{}", shape.name, grid.width,
                    grid.height, grid.columns, grid.rows, pattern.name,
                    connection.neighbours == kernel::Neighbours::four ? 4 : 8,
                    connection.sameness == kernel::Sameness::value ? ", by value" : "");
    const Labelled found =
        label_components(in_tiles(communicator, grid, shape), connection, pattern);
    EXPECT_EQ(found.components, static_cast<Elements>(expected.components.size())) << what;
    const sextant::Image labels = distributed::gather(found.labels);
    const std::vector<kernel::Component> components = gather_components(found);
    if (communicator.rank() != 0)
        return;
    EXPECT_TRUE(std::ranges::equal(labels.pixels<kernel::Label>(), expected.labels)) << what;
    EXPECT_TRUE(components == expected.components) << what;
}

/// Every shape, connection, pattern and grid of this many ranks, or every n-th of all these.
inline void every_pattern_gives_the_serial_labels(const Communicator& communicator,
                                                  ImageShape image, int every = 1) {
    int turn = 0;
    using kernel::Neighbours, kernel::Sameness;
    for (const Shape& shape : shapes(image)) {
        for (const kernel::Connection connection :
             {kernel::Connection{Neighbours::four, Sameness::foreground},
              {Neighbours::eight, Sameness::foreground},
              {Neighbours::four, Sameness::value},
              {Neighbours::eight, Sameness::value}}) {
            const kernel::Labelling expected = kernel::labels_reference(
                {shape.samples.data(), image.width, {0, 0, image.width, image.height}, image},
                connection);
            for (const Grid& grid : grids_of(communicator.size(), image)) {
                for (const contour::Pattern& pattern : contour::catalogue()) {
                    if (turn++ % every == 0)
                        gives_the_serial_labels(communicator, grid, shape, connection, pattern,
                                                expected);
                }
            }
        }
    }
}

} // namespace sextant::test
