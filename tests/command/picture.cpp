// SPDX-License-Identifier: BSD-3-Clause
// Compositing a frame in one call; the parts of a frame on each rank.
#include "sextant/comm/threads.hpp"
#include "sextant/compositor/compositor.hpp"
#include "sextant/core/error.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

TEST(Composite, refuses_to_return_an_image_that_stays_distributed) {
    CompositeOptions options;
    options.root = CompositeOptions::distributed;
    run_threads(3, [&](const Communicator& communicator) {
        const Image image({4, 2}, rgba_f32);
        EXPECT_THROW(composite(image, communicator, options), InvalidTask);
    });
}

TEST(Composite, with_a_window_gives_the_same_bits) {
    run_threads(5, [](const Communicator& communicator) {
        Image image({7, 3}, rgba_f32);
        for (RgbaF32& pixel : image.pixels<RgbaF32>())
            pixel = {0, .1f * static_cast<float>(communicator.rank()), .3f, .4f};
        CompositeOptions windowed;
        windowed.window = 2;
        Compositor compositor(communicator, image.shape(), 1, windowed);
        EXPECT_EQ(compositor.plan().text(), "shift-based, window 2");
        const Frame frame = compositor.composite(std::as_const(image).bytes());
        CompositeOptions direct;
        direct.algorithm = "direct-send";
        const Image expected = composite(image, communicator, direct);
        if (communicator.rank() != 0)
            return;
        const auto pixels = frame.pixels<RgbaF32>();
        const auto wanted = expected.pixels<RgbaF32>();
        EXPECT_TRUE(std::equal(pixels.begin(), pixels.end(), wanted.begin(), wanted.end()));
    });
}

TEST(Frame, is_the_callers_image_if_no_compositing_is_needed) {
    run_threads(1, [](const Communicator& communicator) {
        const Image image({4, 2}, rgba_f32);
        Compositor compositor(communicator, image.shape(), 1);
        EXPECT_EQ(compositor.composite(image.bytes()).bytes.data(), image.bytes().data());
    });
}

} // namespace
} // namespace sextant
