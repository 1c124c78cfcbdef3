// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/memory_frames.hpp"
#include "sextant/contours/components.hpp"
#include "sextant/label/label.hpp"

#include "tests/support/contour_runs.hpp"
#include "tests/support/label_references.hpp"
#include "tests/support/shapes.hpp"

// Tests of the components of images in tiles on any communicator, used by the tests over threads
// and over MPI.
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

/// Expects exactly the labels and components of the whole image.
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
    const std::vector<kernel::RegionSize> components = gather_components(found);
    if (communicator.rank() != 0)
        return;
    EXPECT_TRUE(std::ranges::equal(labels.pixels<kernel::Label>(), expected.labels)) << what;
    EXPECT_TRUE(components == expected.components) << what;
}

/// Tests every shape, connectivity, pattern and grid for the communicator's ranks, or every n-th
/// combination.
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

/// A source of the rows of `shape`, which must outlive the source.
inline RowSource source_of(const Shape& shape) {
    FrameHeader header;
    header.frames = 1;
    header.shape = shape.image;
    header.sample = Sample::u8;
    return {std::make_unique<MemoryFrames>(header, std::as_bytes(std::span(shape.samples))), 0,
            ReadAs::values};
}

/// Memory limit for which strips have `rows` rows.
inline Bytes memory_for(Elements rows, const Shape& shape, bool by_value = false) {
    return rows * shape.image.width * (by_value ? 15 : 12);
}

/// Expects the class Labelling to give the labels and components of the serial kernel, in strips
/// and in tiles, in memory and beyond it.
inline void labelling_gives_the_serial_labels(const Communicator& communicator,
                                              const Shape& shape) {
    using kernel::Neighbours;
    const ImageShape image = shape.image;
    const bool is_root = communicator.rank() == 0;
    for (const Neighbours neighbours : {Neighbours::four, Neighbours::eight}) {
        for (const bool by_value : {false, true}) {
            const kernel::Labelling expected = kernel::labels_reference(
                {shape.samples.data(), image.width, {0, 0, image.width, image.height}, image},
                {neighbours, by_value ? kernel::Sameness::value : kernel::Sameness::foreground});
            LabelOptions options;
            options.neighbours = neighbours;
            options.by_value = by_value;
            options.measure = true;
            options.merging.probing = planner::Probing::off;
            const auto is_serial = [&](const LabelResult& result,
                                       std::span<const kernel::Label> labels,
                                       const std::string& what) {
                EXPECT_EQ(result.components, std::ssize(expected.components)) << what;
                const std::vector<kernel::RegionSize> measured(result.table.begin(),
                                                               result.table.end());
                EXPECT_TRUE(measured ==
                            (is_root ? expected.components : std::vector<kernel::RegionSize>()))
                    << what;
                EXPECT_TRUE(is_root ? std::ranges::equal(labels, expected.labels) : labels.empty())
                    << what;
            };
            for (const Elements rows : {Elements{1}, Elements{5}, image.height, Elements{0}}) {
                const bool in_tiles = rows == 0;
                options.merging.pattern = in_tiles ? "logp-lev-quad" : "auto";
                options.memory = memory_for(in_tiles ? image.height : rows, shape, by_value) *
                                 communicator.size();
                RowSource source = source_of(shape);
                std::vector<kernel::Label> labels;
                const LabelResult result =
                    Labelling(communicator, options)
                        .run(source, [&](Elements first, std::span<const kernel::Label> some) {
                            EXPECT_EQ(first * image.width, std::ssize(labels));
                            labels.insert(labels.end(), some.begin(), some.end());
                        });
                is_serial(result, labels,
                          in_tiles ? shape.name + " in tiles"
                                   : fmt::format("{} in strips of {} rows", shape.name, rows));
            }
            const LabelResult result =
                Labelling(communicator, options)
                    .run(in_tiles(communicator,
                                  near_square(communicator.size(), image.width, image.height),
                                  shape));
            const Image labels = distributed::gather(result.labels.value());
            is_serial(result,
                      is_root ? labels.pixels<kernel::Label>() : std::span<const kernel::Label>(),
                      shape.name + " in memory");
        }
    }
}

} // namespace sextant::test
