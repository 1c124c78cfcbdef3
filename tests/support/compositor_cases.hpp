// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/compositor/compositor.hpp"
#include "sextant/compositor/deep_compositor.hpp"
#include "sextant/compositor/tile_wall.hpp"
#include "sextant/core/error.hpp"

#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <set>
#include <string>

#include "tests/support/blending.hpp"
#include "tests/support/group_cases.hpp"
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

// Guarantees of Compositor on any communicator: shared by the tests over threads and over MPI. Each
// function is collective.
namespace sextant::test {

/// Kind and text of the exception that `part` throws, or "nothing".
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
    // Direct-Send has the association of the serial fold; the predicted algorithm may not.
    const bool same_bits = compositor.plan().configuration.algorithm->name == "direct-send";
    EXPECT_LE(difference({pixels.begin(), pixels.end()}, expected),
              same_bits ? 0 : 0x1p-23f * static_cast<float>(communicator.size()));
    const bool collects = compositor.task().root >= 0;
    if (collects) {
        EXPECT_EQ(frame.count,
                  communicator.rank() == compositor.task().root ? shape.elements() : 0);
    }
}

inline void frames_equal_the_serial_fold(const Communicator& communicator) {
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

inline void a_frame_of_the_wrong_size_fails_only_that_frame(const Communicator& communicator) {
    const ImageShape shape{40, 30};
    const int odd = communicator.size() - 1;
    CompositeOptions options;
    options.algorithm = "direct-send"; // each rank receives from all others
    Compositor compositor(communicator, shape, 1, options);
    for (int turn = 0; turn < 2; ++turn) { // before and after the first valid frame
        const auto image = layers(0, 1, shape.elements() - 1);
        const std::string said = what_is_thrown([&] {
            const bool is_odd = communicator.rank() == odd;
            const auto good = layers(communicator.rank(), 1, shape.elements());
            compositor.composite(std::span<const RgbaF32>(is_odd ? image : good));
        });
        if (communicator.rank() == odd) {
            EXPECT_EQ(said, "task: rank " + std::to_string(odd) +
                                ": a frame of 19184 bytes, expected 19200 (1 images of 1200 "
                                "pixels, rgba f32)");
        } else {
            EXPECT_EQ(said, "peer");
        }
        communicator.barrier();
        expect_picture(communicator, compositor, shape);
    }
}

inline void an_invalid_option_on_one_rank_fails_on_all_ranks(const Communicator& communicator) {
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
                testing::HasSubstr("operator: rank 0 has over, rank " + odd_rank + " has ovre"));
    EXPECT_THAT(said_of([](auto&, auto& shape, auto&) { shape.width = 9; }),
                testing::HasSubstr("rank " + odd_rank +
                                   " has images of 9x8, but rank 0 has images of 8x8"));
    EXPECT_THAT(said_of([](auto&, auto&, auto& images) { images = -1; }),
                testing::HasSubstr("rank " + odd_rank + ": -1 images"));
    EXPECT_THAT(said_of([](auto& options, auto&, auto&) { options.root = 1; }),
                testing::HasSubstr("root: rank 0 has 0, rank " + odd_rank + " has 1"));
    EXPECT_THAT(said_of([](auto& options, auto&, auto&) { options.element = rgba_u8; }),
                testing::HasSubstr("element: rank 0 has none, rank " + odd_rank + " has rgba u8"));
    EXPECT_THAT(said_of([](auto& options, auto&, auto&) {
                    options.blend = "nearest";
                    options.element = rgba_u8;
                }),
                testing::HasSubstr("operator: rank 0 has over, rank " + odd_rank));
    CompositeOptions unknown;
    unknown.blend = "ovre";
    EXPECT_THAT(what_is_thrown([&] {
                    Compositor(communicator, {8, 8}, 1, unknown);
                }),
                testing::HasSubstr("invalid: unknown operator 'ovre'"));
    expect_picture(communicator, *std::make_unique<Compositor>(communicator, ImageShape{8, 8}, 1),
                   {8, 8}); // the communicator is still usable
}

inline void several_compositors_may_be_used_alternately(const Communicator& communicator) {
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

inline void empty_ranks_and_a_background_give_the_right_image(const Communicator& communicator) {
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

/// A machine profile file whose intervals are so wide that no two predictions differ significantly.
/// The file exists during the object's lifetime; only rank 0 writes and reads it. Collective.
class UndecidedMachine {
  public:
    explicit UndecidedMachine(const Communicator& communicator)
        : communicator_(communicator),
          path_(std::filesystem::temp_directory_path() /
                ("sextant-undecided-" + std::to_string(getpid()) + ".json")) {
        if (communicator_.rank() == 0)
            std::ofstream(path_) << R"({"version": 1, "name": "undecided", "date": "2026",
                "method": "made up", "links": [
                {"link": "same process", "hockney": {"latency": [1e-6, 0, 1, 9], "seconds_per_byte": 1e-9}},
                {"link": "same node", "hockney": {"latency": [1e-6, 0, 1, 9], "seconds_per_byte": 1e-9}}]})";
        communicator_.barrier();
    }
    ~UndecidedMachine() {
        communicator_.barrier();
        if (communicator_.rank() == 0)
            std::filesystem::remove(path_);
    }
    std::string path() const { return path_.string(); }

  private:
    const Communicator& communicator_;
    const std::filesystem::path path_;
};

/// Expects the same plan and reason on all ranks.
inline void expect_one_plan(const Communicator& communicator, const Compositor& compositor) {
    const std::string own = compositor.plan().text() + ": " + compositor.plan().reason;
    for (const std::string& other : all_gather_texts(communicator, own))
        EXPECT_EQ(other, own);
}

inline void frames_of_a_race_equal_the_serial_fold(const Communicator& communicator) {
    const ImageShape shape{61, 17};
    const UndecidedMachine machine(communicator);
    for (const int root : {communicator.size() - 1, CompositeOptions::distributed}) {
        CompositeOptions options;
        options.machine = machine.path();
        options.root = root;
        options.frames = 100;
        Compositor compositor(communicator, shape, 1, options);
        const bool races = compositor.racing();
        EXPECT_EQ(races, communicator.size() > 1);
        std::set<std::string> plans;
        int frames = 0;
        while (compositor.racing() && frames <= 25) {
            expect_picture(communicator, compositor, shape);
            expect_one_plan(communicator, compositor);
            plans.insert(compositor.plan().text());
            ++frames;
        }
        EXPECT_LE(frames, 25) << "a quarter of the frames, and the one that ends the race";
        if (!races)
            continue;
        EXPECT_GE(plans.size(), 2u);
        EXPECT_THAT(compositor.plan().reason,
                    testing::MatchesRegex("raced over [0-9]+ frames: .* ms; .* ms; predicted: .*"));
        const std::string winner = compositor.plan().text();
        for (int frame = 0; frame < 3; ++frame)
            expect_picture(communicator, compositor, shape);
        EXPECT_EQ(compositor.plan().text(), winner);
        EXPECT_TRUE(plans.contains(winner));
    }
}

inline void a_failed_frame_does_not_break_a_race(const Communicator& communicator) {
    const ImageShape shape{40, 30};
    const UndecidedMachine machine(communicator);
    CompositeOptions options;
    options.machine = machine.path();
    options.frames = 100;
    Compositor compositor(communicator, shape, 1, options);
    ASSERT_TRUE(compositor.racing());
    const bool is_odd = communicator.rank() == communicator.size() - 1;
    const auto good = layers(communicator.rank(), 1, shape.elements());
    const auto bad = layers(0, 1, shape.elements() - 1);
    for (int frame = 0; compositor.racing(); ++frame) {
        ASSERT_LT(frame, 40);
        if (frame % 3 == 1) { // other ranks may not notice the failed frame
            const std::string said = what_is_thrown(
                [&] { compositor.composite(std::span<const RgbaF32>(is_odd ? bad : good)); });
            EXPECT_EQ(said.starts_with("task: "), is_odd) << said;
        } else {
            expect_picture(communicator, compositor, shape);
        }
    }
    expect_picture(communicator, compositor, shape);
    expect_one_plan(communicator, compositor);
    EXPECT_THAT(compositor.plan().reason, testing::StartsWith("raced over "));
}

inline void races_require_many_frames_and_a_free_choice(const Communicator& communicator) {
    if (communicator.shares_nodes())
        return; // where the machine is not undecided
    const UndecidedMachine machine(communicator);
    const auto races = [&](const std::function<void(CompositeOptions&)>& with) {
        CompositeOptions options;
        options.machine = machine.path();
        options.frames = 1000;
        with(options);
        return Compositor(communicator, {16, 16}, 1, options).racing();
    };
    EXPECT_TRUE(races([](auto&) {}));
    EXPECT_FALSE(races([](auto& options) { options.frames = CompositeOptions().frames; }));
    EXPECT_FALSE(races([](auto& options) { options.frames = 8; }));
    EXPECT_FALSE(races([](auto& options) { options.reproducible = true; }));
    EXPECT_FALSE(races([](auto& options) { options.algorithm = "shift-based"; }));
}

inline void
frames_of_a_new_shape_equal_those_of_a_new_compositor(const Communicator& communicator) {
    const ImageShape shapes[] = {{61, 17}, {0, 0}, {200, 3}, {1, 1}, {61, 17}};
    for (const auto& algorithm : compositing::catalogue()) {
        if (algorithm.tunings(communicator.size()).empty())
            continue;
        const bool collects = algorithm.name.size() % 2 == 0;
        const int root = collects ? communicator.size() - 1 : CompositeOptions::distributed;
        CompositeOptions options;
        options.algorithm = algorithm.name;
        options.root = root;
        options.sparse = planner::Sparse::on;
        options.interlace = root < 0 ? planner::Interlace::off : planner::Interlace::on;
        options.background = RgbaF32{.1f, .2f, .3f, 1};
        Compositor resized(communicator, {5, 5}, 1, options);
        for (const ImageShape& shape : shapes) {
            resized.resize(shape);
            Compositor made(communicator, shape, 1, options);
            const auto image = layers(communicator.rank(), 1, shape.elements());
            for (int frame = 0; frame < 2; ++frame) {
                const Frame expected = made.composite(std::span<const RgbaF32>(image));
                const Frame found = resized.composite(std::span<const RgbaF32>(image));
                ASSERT_EQ(found.first, expected.first) << algorithm.name;
                ASSERT_EQ(found.count, expected.count) << algorithm.name;
                ASSERT_TRUE(std::equal(found.bytes.begin(), found.bytes.end(),
                                       expected.bytes.begin(), expected.bytes.end()))
                    << algorithm.name << " on " << communicator.size();
            }
            EXPECT_EQ(resized.plan().text(), made.plan().text());
        }
    }
}

inline void a_race_of_an_earlier_shape_decides_its_later_frames(const Communicator& communicator) {
    const ImageShape shape{61, 17}, other{64, 48};
    const UndecidedMachine machine(communicator);
    CompositeOptions options;
    options.machine = machine.path();
    options.frames = 100;
    Compositor compositor(communicator, shape, 1, options);
    while (compositor.racing())
        expect_picture(communicator, compositor, shape);
    const std::string winner = compositor.plan().text(), reason = compositor.plan().reason;
    compositor.resize(other);
    EXPECT_FALSE(compositor.racing());
    expect_picture(communicator, compositor, other);
    expect_one_plan(communicator, compositor);
    compositor.resize(shape);
    expect_picture(communicator, compositor, shape);
    EXPECT_EQ(compositor.plan().text(), winner);
    EXPECT_EQ(compositor.plan().reason, reason);
    Compositor racing(communicator, shape, 1, options);
    expect_picture(communicator, racing, shape);
    racing.resize(other); // the race ends without a winner
    EXPECT_FALSE(racing.racing());
    expect_picture(communicator, racing, other);
}

inline void an_invalid_shape_keeps_the_previous_one(const Communicator& communicator) {
    const ImageShape shape{9, 5};
    Compositor compositor(communicator, shape, 1);
    const int odd = communicator.size() - 1;
    const auto said = [&](ImageShape to, ImageShape of_odd) {
        return what_is_thrown([&] { compositor.resize(communicator.rank() == odd ? of_odd : to); });
    };
    EXPECT_THAT(said({4, 4}, {4, -1}),
                testing::HasSubstr("rank " + std::to_string(odd) + ": an image of 4x-1"));
    EXPECT_THAT(said({std::int64_t{1} << 32, 5}, {std::int64_t{1} << 32, 5}),
                testing::HasSubstr("expected no more than"));
    if (odd > 0) {
        EXPECT_THAT(said({4, 4}, {4, 5}),
                    testing::HasSubstr(" has images of 4x5, but rank 0 has images of 4x4"));
    }
    expect_picture(communicator, compositor, shape);
    compositor.resize({5, 9});
    expect_picture(communicator, compositor, {5, 9});
}

inline void a_background_that_is_not_finite_is_refused(const Communicator& communicator) {
    const ImageShape shape{8, 8};
    for (const float odd :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        CompositeOptions options;
        options.background = RgbaF32{.5f, 0, 0, odd};
        const std::string said = fmt::format("background 0.5,0,0,{}: expected finite numbers", odd);
        EXPECT_EQ(what_is_thrown([&] { Compositor(communicator, shape, 1, options); }),
                  "invalid: " + said);
        EXPECT_EQ(what_is_thrown([&] {
                      TileWall(communicator, {{{0, 0, 8, 8}, 0}}, {}, options);
                  }),
                  "invalid: " + said);
        EXPECT_EQ(what_is_thrown([&] { DeepCompositor(communicator, shape, 0, 1, options); }),
                  "invalid: " + said);
        const FrameOptions frame{{}, options.background};
        const auto image = layers(communicator.rank(), 1, shape.elements());
        Compositor compositor(communicator, shape, 1);
        EXPECT_EQ(
            what_is_thrown([&] { compositor.composite(std::span<const RgbaF32>(image), frame); }),
            "task: " + said);
        expect_picture(communicator, compositor, shape);
        TileWall wall(communicator, {{{0, 0, 8, 8}, 0}}, {});
        const std::span<const std::byte> none[1];
        EXPECT_EQ(what_is_thrown([&] { wall.composite(none, frame); }), "invalid: " + said);
        DeepCompositor deep(communicator, shape, 0, 1);
        EXPECT_EQ(what_is_thrown([&] { deep.composite({}, frame); }), "invalid: " + said);
    }
}

inline std::vector<GroupCase> compositor_cases() {
    return {
        GROUP_CASE(frames_equal_the_serial_fold),
        GROUP_CASE(a_frame_of_the_wrong_size_fails_only_that_frame),
        GROUP_CASE(an_invalid_option_on_one_rank_fails_on_all_ranks, {3}),
        GROUP_CASE(several_compositors_may_be_used_alternately),
        GROUP_CASE(empty_ranks_and_a_background_give_the_right_image),
        GROUP_CASE(frames_of_a_race_equal_the_serial_fold),
        GROUP_CASE(a_failed_frame_does_not_break_a_race, {3, 4, 7}),
        GROUP_CASE(races_require_many_frames_and_a_free_choice, {4}),
        GROUP_CASE(frames_of_a_new_shape_equal_those_of_a_new_compositor),
        GROUP_CASE(a_race_of_an_earlier_shape_decides_its_later_frames, {3, 4}),
        GROUP_CASE(an_invalid_shape_keeps_the_previous_one),
        GROUP_CASE(a_background_that_is_not_finite_is_refused),
    };
}

} // namespace sextant::test
