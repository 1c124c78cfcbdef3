// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/memory_frames.hpp"
#include "sextant/contours/contour_tracing.hpp"

#include "tests/support/canny_runs.hpp"
#include "tests/support/line_runs.hpp"
#include "tests/support/line_topology.hpp"

// Tests of ContourTracing on any communicator, used by the tests over threads and over MPI.
namespace sextant::test {

/// A source of the rows of an image in memory, u8 or f32, which must outlive the source.
template <class Value>
RowSource source_of(ImageShape shape, const std::vector<Value>& samples) {
    const Sample sample = sizeof(Value) == 1 ? Sample::u8 : Sample::f32;
    return {
        std::make_unique<MemoryFrames>(FrameHeader{.frames = 1, .shape = shape, .sample = sample},
                                       std::as_bytes(std::span(samples))),
        0};
}

/// A direction map as samples.
inline std::vector<float> samples_of(const DirectionMap& map) {
    return {map.codes.begin(), map.codes.end()};
}

/// The edges of an image from the serial reference.
inline DirectionMap edges_of(const GradientField& image, const ContoursOptions& options) {
    return {image.name, image.shape,
            kernel::canny_reference(gradient_of(image, options.sigma).view(), *options.thresholds)
                .directions};
}

/// Expects an image, in memory and in strips, to give the contours of a serial traversal of `map`.
inline void traces(const Communicator& communicator, const std::vector<float>& samples,
                   ContoursOptions options, const DirectionMap& map) {
    const ContourLines walked = lines_of_walk(map, options.min_length);
    const ContourLines expected =
        options.simplify ? simplified_reference(walked, *options.simplify) : walked;
    const Elements closed = std::ranges::count_if(expected.lines, &ContourLine::closed);
    // Memory for the whole image, for some rows, and for one row of 23 pixels.
    const Bytes usual = options.memory;
    for (const Bytes memory : {usual, Bytes{30'000}, Bytes{12'000}}) {
        RowSource image = source_of(map.image, samples);
        const bool in_strips = memory < usual;
        options.memory = memory;
        const std::string what =
            fmt::format("{} of {}x{} on {} ranks, {} bytes", map.name, map.image.width,
                        map.image.height, communicator.size(), options.memory);
        ContourLines found;
        int times = 0;
        const ContoursResult result =
            ContourTracing(communicator, options).run(image, [&](LineReader& contours) {
                found = read_lines(contours);
                contours.rewind();
                expect_same(read_lines(contours), found, what + ", again");
                ++times;
            });
        EXPECT_EQ(result.strips > 1, in_strips) << what;
        EXPECT_EQ(result.contours, static_cast<Elements>(expected.lines.size())) << what;
        EXPECT_EQ(result.points, static_cast<Elements>(walked.pixels.size())) << what;
        EXPECT_EQ(result.written, static_cast<Elements>(expected.pixels.size())) << what;
        EXPECT_EQ(result.closed, closed) << what;
        EXPECT_EQ(times, communicator.rank() == 0 ? 1 : 0) << what;
        if (communicator.rank() == 0)
            expect_same(found, expected, what);
    }
}

/// Expects ContourTracing to give the serial contours of an image and of every n-th direction map,
/// of which every second one is simplified.
inline void tracing_gives_the_serial_contours(const Communicator& communicator, ImageShape shape,
                                              const std::string& scratch, int every = 1) {
    ContoursOptions options;
    options.scratch = scratch;
    options.sigma = 1.5;
    options.thresholds = {.05, .3};
    options.min_length = 2;
    const GradientField waves = gradient_fields(shape)[4];
    traces(communicator, waves.x, options, edges_of(waves, options));
    options = {.directions = true, .min_length = 2, .scratch = scratch};
    int turn = 0;
    for (const DirectionMap& map : direction_maps(shape)) {
        options.simplify = turn / every % 2 == 0 ? std::optional<double>() : 1.5;
        if (turn++ % every == 0)
            traces(communicator, samples_of(map), options, map);
    }
}

} // namespace sextant::test
