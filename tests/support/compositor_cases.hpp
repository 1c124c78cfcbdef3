// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/agree.hpp"
#include "sextant/core/error.hpp"
#include "sextant/operation/compositor.hpp"

#include <functional>
#include <string>

#include "tests/support/blending.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

// What a caller of Compositor may count on, on any communicator: shared by the tests over threads
// and over MPI. Each is collective.
namespace sextant::test {

/// An operator's failure, an odd frame or an odd option on one rank.
inline std::string what_is_thrown(const std::function<void()>& part) {
    try {
        part();
    } catch (const AgreedFailure& error) {
        return std::string(error.invalid_task() ? "invalid: " : "failed: ") + error.what();
    } catch (const PeerFailed&) {
        return "peer";
    } catch (const InvalidTask& error) {
        return std::string("task: ") + error.what();
    }
    return "nothing";
}

inline void expect_picture(const Communicator& communicator, Compositor& compositor,
                           ImageShape shape) {
    const auto image = layers(communicator.rank(), 1, shape.elements());
    const Frame frame = compositor.composite(std::span<const RgbaF32>(image));
    const auto whole = serial_composite(communicator.size(), shape.elements());
    const std::vector<RgbaF32> expected(whole.begin() + frame.first,
                                        whole.begin() + frame.first + frame.count);
    const auto pixels = frame.pixels<RgbaF32>();
    // Direct-Send brackets as the serial fold does; what a prediction takes may bracket otherwise.
    const bool same_bits = compositor.plan().algorithm->name == "direct-send";
    EXPECT_LE(difference({pixels.begin(), pixels.end()}, expected),
              same_bits ? 0 : 0x1p-23f * static_cast<float>(communicator.size()));
    const bool collects = compositor.task().root >= 0;
    if (collects) {
        EXPECT_EQ(frame.count,
                  communicator.rank() == compositor.task().root ? shape.elements() : 0);
    }
}

inline void frames_come_out_right(const Communicator& communicator) {
    const ImageShape shape{61, 17};
    for (const int root : {0, communicator.size() - 1, CompositeOptions::distributed}) {
        for (const char* algorithm : {"auto", "direct-send"}) {
            CompositeOptions options;
            options.algorithm = algorithm;
            options.root = root;
            Compositor compositor(communicator, shape, 1, options);
            for (int frame = 0; frame < 3; ++frame)
                expect_picture(communicator, compositor, shape);
        }
    }
}

inline void a_frame_of_another_size_ends_that_frame_only(const Communicator& communicator) {
    const ImageShape shape{40, 30};
    const int odd = communicator.size() - 1;
    CompositeOptions options;
    options.algorithm = "direct-send"; // everyone waits for everyone
    Compositor compositor(communicator, shape, 1, options);
    for (int turn = 0; turn < 2; ++turn) { // before the first good frame, and after it
        const auto image = layers(0, 1, shape.elements() - 1);
        const std::string said = what_is_thrown([&] {
            const bool is_odd = communicator.rank() == odd;
            const auto good = layers(communicator.rank(), 1, shape.elements());
            compositor.composite(std::span<const RgbaF32>(is_odd ? image : good));
        });
        if (communicator.rank() == odd) {
            EXPECT_EQ(said, "task: rank " + std::to_string(odd) +
                                ": a frame of 19184 bytes, planned for 19200 (1 images of 1200 "
                                "pixels, rgba f32)");
        } else {
            EXPECT_EQ(said, "peer");
        }
        communicator.barrier();
        expect_picture(communicator, compositor, shape);
    }
}

inline void one_ranks_odd_option_reaches_all(const Communicator& communicator) {
    const bool is_odd = communicator.rank() == communicator.size() - 1;
    const auto said_of = [&](const std::function<void(CompositeOptions&, ImageShape&, int&)>& odd) {
        CompositeOptions options;
        ImageShape shape{8, 8};
        int images = 1;
        if (is_odd)
            odd(options, shape, images);
        return what_is_thrown([&] { Compositor(communicator, shape, images, options); });
    };
    const std::string odd_rank = std::to_string(communicator.size() - 1);
    EXPECT_THAT(said_of([](auto& options, auto&, auto&) { options.blend = "ovre"; }),
                testing::HasSubstr("rank " + odd_rank + " gives other options than rank 0"));
    EXPECT_THAT(said_of([](auto&, auto& shape, auto&) { shape.width = 9; }),
                testing::HasSubstr("rank " + odd_rank + " has images of 9x8, rank 0 of 8x8"));
    EXPECT_THAT(said_of([](auto&, auto&, auto& images) { images = -1; }),
                testing::HasSubstr("rank " + odd_rank + ": -1 images"));
    EXPECT_THAT(said_of([](auto& options, auto&, auto&) { options.root = 1; }),
                testing::HasSubstr("rank " + odd_rank + " wants the picture on rank 1"));
    EXPECT_THAT(said_of([](auto& options, auto&, auto&) { options.element = rgba_u8; }),
                testing::HasSubstr("rank " + odd_rank + " gives other options than rank 0"));
    EXPECT_THAT(said_of([](auto& options, auto&, auto&) {
                    options.blend = "nearest";
                    options.element = rgba_u8;
                }),
                testing::HasSubstr("rank " + odd_rank + " gives other options than rank 0"));
    CompositeOptions unknown;
    unknown.blend = "ovre";
    EXPECT_THAT(what_is_thrown([&] {
                    Compositor(communicator, {8, 8}, 1, unknown);
                }),
                testing::HasSubstr("invalid: unknown operator 'ovre'"));
    expect_picture(communicator, *std::make_unique<Compositor>(communicator, ImageShape{8, 8}, 1),
                   {8, 8}); // and the communicator is still of use
}

inline void several_compositors_take_turns(const Communicator& communicator) {
    const ImageShape small{13, 7}, large{64, 48};
    const Communicator half = communicator.split(communicator.rank() % 2, 0);
    Compositor of_all(communicator, small, 1), of_half(half, large, 1),
        again(communicator, large, 1);
    for (int frame = 0; frame < 3; ++frame) {
        expect_picture(communicator, of_all, small);
        expect_picture(half, of_half, large);
        expect_picture(communicator, again, large);
    }
}

inline void empty_ranks_and_a_background_come_out_right(const Communicator& communicator) {
    const ImageShape shape{9, 5};
    CompositeOptions options;
    options.background = RgbaF32{.5f, .25f, .125f, 1};
    for (const bool any : {true, false}) {
        const int images = any && communicator.rank() == communicator.size() / 2 ? 1 : 0;
        Compositor compositor(communicator, shape, images, options);
        const std::vector<RgbaF32> grey(static_cast<std::size_t>(images * shape.elements()),
                                        {.25f, .25f, .25f, .5f});
        const Frame frame = compositor.composite(std::span<const RgbaF32>(grey));
        const RgbaF32 expected = any ? RgbaF32{.5f, .375f, .3125f, 1} : *options.background;
        EXPECT_EQ(frame.count, communicator.rank() == 0 ? shape.elements() : 0);
        for (const RgbaF32& pixel : frame.pixels<RgbaF32>())
            ASSERT_EQ(pixel, expected);
    }
}

} // namespace sextant::test
