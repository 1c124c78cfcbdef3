// SPDX-License-Identifier: BSD-3-Clause
// Interlaced frames of a Compositor.
#include "sextant/comm/threads.hpp"
#include "sextant/compositor/compositor.hpp"
#include "sextant/core/error.hpp"
#include "sextant/kernel/fold/sparse_code.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tests/support/blending.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

constexpr ImageShape shape{40, 301};
constexpr Elements pixels = shape.width * shape.height;

/// A layer whose upper half is empty.
std::vector<RgbaF32> lower_half(int layer) {
    std::vector<RgbaF32> image = layers(layer, 1, pixels);
    std::fill(image.begin(), image.begin() + pixels / 2, RgbaF32{});
    return image;
}

std::vector<RgbaF32> serial(int ranks) {
    std::vector<RgbaF32> sum = serial_composite(ranks, pixels);
    std::fill(sum.begin(), sum.begin() + pixels / 2, RgbaF32{});
    return sum;
}

CompositeOptions options_for(const std::vector<RgbaF32>& image, const std::string& algorithm) {
    CompositeOptions options;
    options.algorithm = algorithm;
    options.sparse = planner::Sparse::on;
    options.drawn = kernel::sampled_bands(std::as_bytes(std::span(image)), pixels,
                                          kernel::find("over"), planner::drawn_bands);
    return options;
}

TEST(InterlacedFrames, are_assembled_from_the_pixels_of_all_ranks) {
    for (const int ranks : {1, 2, 5}) {
        for (const int root : {CompositeOptions::distributed, ranks - 1}) {
            std::vector<RgbaF32> picture(static_cast<std::size_t>(pixels));
            run_threads(ranks, [&](Communicator communicator) {
                const std::vector<RgbaF32> image = lower_half(communicator.rank());
                CompositeOptions options = options_for(image, "direct-send");
                options.interlace = planner::Interlace::on;
                options.root = root;
                Compositor compositor(communicator, shape, 1, options);
                EXPECT_GT(compositor.plan().configuration.tuning.interlace, 0);
                const Frame frame = compositor.composite(std::span<const RgbaF32>(image));
                for (Elements i = 0; i < frame.count; ++i)
                    picture[static_cast<std::size_t>(compositor.pixel(frame, i))] =
                        frame.pixels<RgbaF32>()[static_cast<std::size_t>(i)];
            });
            EXPECT_EQ(difference(picture, serial(ranks)), 0) << ranks << " ranks, root " << root;
        }
    }
}

/// Block size with which a compositor interlaces images, as planned on rank 0; 0 if it does not
/// interlace them.
Elements chosen(const std::string& algorithm, const std::function<void(CompositeOptions&)>& change,
                bool upper = false) {
    Elements block = -1;
    run_threads(3, [&](Communicator communicator) {
        std::vector<RgbaF32> image = lower_half(communicator.rank());
        if (upper)
            std::rotate(image.begin(), image.begin() + pixels / 2, image.end());
        CompositeOptions options = options_for(image, algorithm);
        change(options);
        Compositor compositor(communicator, shape, 1, options);
        compositor.composite(std::span<const RgbaF32>(image));
        if (communicator.rank() == 0)
            block = compositor.plan().configuration.tuning.interlace;
    });
    return block;
}

TEST(InterlacedFrames, are_chosen_if_they_reduce_the_data_sent_by_the_busiest_rank) {
    const auto as_it_is = [](CompositeOptions&) {};
    EXPECT_EQ(chosen("direct-send", as_it_is), 280); // seven rows of pixels
    EXPECT_EQ(chosen("direct-send", as_it_is, true), 0);
    EXPECT_EQ(chosen("binary-tree", as_it_is), 0);
    EXPECT_EQ(chosen("direct-send", [](auto& o) { o.sparse = planner::Sparse::off; }), 0);
    EXPECT_EQ(chosen("direct-send", [](auto& o) { o.interlace = planner::Interlace::off; }), 0);
    EXPECT_EQ(chosen("direct-send", [](auto& o) { o.root = o.distributed; }), 0);
    EXPECT_EQ(chosen("direct-send", [](auto& o) { o.drawn.clear(); }), 0);
}

TEST(InterlacedFrames, are_chosen_by_automatic_planning) {
    run_threads(3, [](Communicator communicator) {
        const std::vector<RgbaF32> image = lower_half(communicator.rank());
        Compositor compositor(communicator, shape, 1, options_for(image, "auto"));
        const compositing::Configuration& plan = compositor.plan().configuration;
        EXPECT_EQ(plan.tuning.interlace > 0, plan.algorithm->name != "binary-tree") << plan.text();
        const Frame frame = compositor.composite(std::span<const RgbaF32>(image));
        if (communicator.rank() == 0) {
            const auto got = frame.pixels<RgbaF32>();
            EXPECT_LE(difference({got.begin(), got.end()}, serial(3)), 2 * 0x1p-23f);
        }
    });
}

TEST(InterlacedFrames, refuse_a_wrong_number_of_bands) {
    run_threads(2, [](Communicator communicator) {
        CompositeOptions options;
        options.drawn.assign(communicator.rank() == 1 ? 3 : 64, 1);
        EXPECT_THROW(Compositor(communicator, shape, 1, options), Error);
    });
}

} // namespace
} // namespace sextant::test
