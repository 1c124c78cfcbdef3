// SPDX-License-Identifier: BSD-3-Clause
// Frames over a communicator of the program's own: images equal a serial fold, and invalid calls
// raise errors on every rank.
#include <algorithm>
#include <array>
#include <atomic>
#include <csetjmp>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "thread_communicator.hpp"
#include <IceT.h>
#include <gtest/gtest.h>

namespace sextant::icet::test {
namespace {

constexpr double identity[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
constexpr float none[4] = {0, 0, 0, 0};

struct Rgba {
    std::uint8_t r, g, b, a;
    bool operator==(const Rgba&) const = default;
};

/// The pixel that a rank draws: premultiplied, with a distinct depth.
Rgba color_of(int rank, int x, int y) {
    const auto a = static_cast<std::uint8_t>(100 + (37 * x + 11 * y + 53 * rank) % 156);
    const auto of = [a](int level) { return static_cast<std::uint8_t>(level % (a + 1)); };
    return {of(7 * x + rank), of(13 * y + 5 * rank), of(x * y + 100 * rank), a};
}
float depth_of(int rank, int x, int y) {
    return static_cast<float>((31 * x + 17 * y + 101 * rank * (rank + x)) % 97 * 8 + rank) / 800.F;
}
/// True if a rank draws a pixel. Each rank draws a band of columns; bands overlap.
bool draws(int rank, int x, int width) {
    return x >= rank * 3 && x < width / 2 + rank * 4;
}

thread_local int drawing_rank = 0;
thread_local bool throws = false, throws_a_number = false;

void draw(const IceTDouble*, const IceTDouble*, const IceTFloat*, const IceTInt* part,
          IceTImage image) {
    if (throws)
        throw std::runtime_error("the callback failed");
    if (throws_a_number)
        throw 42;
    const int width = icetImageGetWidth(image);
    for (int y = part[1]; y < part[1] + part[3]; ++y) {
        for (int x = part[0]; x < part[0] + part[2]; ++x) {
            const int at = y * width + x;
            const bool drawn = draws(drawing_rank, x, width);
            const Rgba color = drawn ? color_of(drawing_rank, x, y) : Rgba{};
            if (icetImageGetColorFormat(image) == ICET_IMAGE_COLOR_RGBA_UBYTE)
                std::memcpy(icetImageGetColorub(image) + 4 * at, &color, 4);
            if (icetImageGetDepthFormat(image) == ICET_IMAGE_DEPTH_FLOAT)
                icetImageGetDepthf(image)[at] = drawn ? depth_of(drawing_rank, x, y) : 1;
        }
    }
}

/// A context with one tile on rank `display`.
struct Scene {
    Scene(IceTCommunicator communicator, int width, int height, int display)
        : context(icetCreateContext(communicator)), rank(communicator->Comm_rank(communicator)) {
        icetDiagnostics(ICET_DIAG_OFF);
        icetAddTile(0, 0, width, height, display);
        icetStrategy(ICET_STRATEGY_SEQUENTIAL);
        icetDrawCallback(draw);
        icetDisable(ICET_COMPOSITE_ONE_BUFFER);
        drawing_rank = rank;
    }
    ~Scene() { icetDestroyContext(context); }
    Scene(const Scene&) = delete;
    Scene& operator=(const Scene&) = delete;

    IceTContext context;
    int rank;
};

TEST(IcetFrames, nearest_pixels_are_kept) {
    for (const int ranks : {1, 2, 3, 5}) {
        on_threads(ranks, [&](IceTCommunicator communicator) {
            constexpr int width = 29, height = 11;
            const Scene scene(communicator, width, height, ranks - 1);
            for (int frame = 0; frame < 3; ++frame) {
                const IceTImage image = icetDrawFrame(identity, identity, none);
                ASSERT_EQ(icetGetError(), ICET_NO_ERROR);
                if (scene.rank != ranks - 1)
                    continue;
                ASSERT_FALSE(icetImageIsNull(image));
                const IceTUByte* colors = icetImageGetColorcub(image);
                const IceTFloat* depths = icetImageGetDepthcf(image);
                for (int y = 0; y < height; ++y) {
                    for (int x = 0; x < width; ++x) {
                        Rgba color{};
                        float depth = 1;
                        for (int rank = 0; rank < ranks; ++rank) {
                            if (draws(rank, x, width) && depth_of(rank, x, y) < depth) {
                                depth = depth_of(rank, x, y);
                                color = color_of(rank, x, y);
                            }
                        }
                        const int at = y * width + x;
                        ASSERT_EQ(depths[at], depth) << x << ", " << y;
                        ASSERT_EQ(std::memcmp(colors + 4 * at, &color, 4), 0) << x << ", " << y;
                    }
                }
            }
        });
    }
}

/// Blends one pixel over another in double precision.
std::array<double, 4> over(const std::array<double, 4>& front, const Rgba& back) {
    const double through = 1 - front[3] / 255;
    return {front[0] + through * back.r, front[1] + through * back.g, front[2] + through * back.b,
            front[3] + through * back.a};
}

// A colour is rounded to a level each time a rank blends: at most once per rank.
TEST(IcetFrames, pixels_are_blended_in_order) {
    for (const int ranks : {1, 2, 3, 5}) {
        on_threads(ranks, [&](IceTCommunicator communicator) {
            constexpr int width = 31, height = 9;
            const Scene scene(communicator, width, height, 0);
            icetCompositeMode(ICET_COMPOSITE_MODE_BLEND);
            icetSetDepthFormat(ICET_IMAGE_DEPTH_NONE);
            icetEnable(ICET_ORDERED_COMPOSITE);
            std::vector<IceTInt> order(static_cast<std::size_t>(ranks));
            std::iota(order.begin(), order.end(), 0);
            for (int frame = 0; frame < 4; ++frame) {
                std::rotate(order.begin(), order.begin() + 1, order.end());
                icetCompositeOrder(order.data());
                const IceTImage image = icetDrawFrame(identity, identity, none);
                ASSERT_EQ(icetGetError(), ICET_NO_ERROR);
                if (scene.rank != 0)
                    continue;
                const IceTUByte* colors = icetImageGetColorcub(image);
                for (int y = 0; y < height; ++y) {
                    for (int x = 0; x < width; ++x) {
                        std::array<double, 4> sum{};
                        for (const IceTInt rank : order) {
                            if (draws(rank, x, width))
                                sum = over(sum, color_of(rank, x, y));
                        }
                        for (std::size_t channel = 0; channel < 4; ++channel)
                            EXPECT_NEAR(
                                colors[4 * static_cast<std::size_t>(y * width + x) + channel],
                                sum[channel], .5 * ranks + .1)
                                << x << ", " << y;
                    }
                }
            }
        });
    }
}

TEST(IcetFrames, formats_that_differ_raise_errors_on_all_ranks) {
    on_threads(3, [&](IceTCommunicator communicator) {
        const Scene scene(communicator, 10, 10, 0);
        if (scene.rank == 1)
            icetSetColorFormat(ICET_IMAGE_COLOR_RGBA_FLOAT);
        EXPECT_TRUE(icetImageIsNull(icetDrawFrame(identity, identity, none)));
        EXPECT_EQ(icetGetError(), ICET_INVALID_VALUE);
        icetSetColorFormat(ICET_IMAGE_COLOR_RGBA_UBYTE);
        icetDrawFrame(identity, identity, none);
        EXPECT_EQ(icetGetError(), ICET_NO_ERROR) << "the context is usable";
    });
}

TEST(IcetFrames, a_failure_of_one_rank_ends_the_frame_on_all) {
    on_threads(3, [&](IceTCommunicator communicator) {
        const Scene scene(communicator, 10, 10, 0);
        throws = scene.rank == 2;
        EXPECT_TRUE(icetImageIsNull(icetDrawFrame(identity, identity, none)));
        EXPECT_EQ(icetGetError(), ICET_INVALID_OPERATION);
        throws = false;
        throws_a_number = scene.rank == 2;
        EXPECT_TRUE(icetImageIsNull(icetDrawFrame(identity, identity, none)));
        EXPECT_EQ(icetGetError(), ICET_INVALID_OPERATION);
        throws_a_number = false;
        if (scene.rank == 1)
            icetDrawCallback(nullptr);
        EXPECT_TRUE(icetImageIsNull(icetDrawFrame(identity, identity, none)));
        EXPECT_EQ(icetGetError(), ICET_INVALID_OPERATION);
        icetDrawCallback(draw);
        icetDrawFrame(identity, identity, none);
        EXPECT_EQ(icetGetError(), ICET_NO_ERROR) << "the context is usable";
    });
}

TEST(IcetFrames, invalid_calls_raise_errors) {
    on_threads(1, [&](IceTCommunicator communicator) {
        const Scene scene(communicator, 10, 8, 0);
        icetSetDepthFormat(ICET_IMAGE_DEPTH_NONE);
        icetDrawFrame(identity, identity, none);
        EXPECT_EQ(icetGetError(), ICET_INVALID_OPERATION) << "depths are compared";
        icetCompositeMode(ICET_COMPOSITE_MODE_BLEND);
        icetSetColorFormat(ICET_IMAGE_COLOR_RGB_FLOAT);
        icetDrawFrame(identity, identity, none);
        EXPECT_EQ(icetGetError(), ICET_INVALID_OPERATION) << "blending needs alpha";
        icetSetColorFormat(ICET_IMAGE_COLOR_RGBA_UBYTE);
        icetDrawFrame(nullptr, identity, none);
        EXPECT_EQ(icetGetError(), ICET_INVALID_VALUE);
        icetCompositeImage(nullptr, nullptr, nullptr, nullptr, nullptr, none);
        EXPECT_EQ(icetGetError(), ICET_INVALID_VALUE);
        const std::vector<IceTUByte> colors(4 * 10 * 8);
        const IceTInt outside[4] = {-3, 5, 100, 100};
        EXPECT_FALSE(icetImageIsNull(
            icetCompositeImage(colors.data(), nullptr, outside, nullptr, nullptr, none)));
        EXPECT_EQ(icetGetError(), ICET_INVALID_VALUE) << "a warning: the rest is composited";
        EXPECT_EQ(icetAddTile(0, 0, 2147483647, 1, 0), -1);
        EXPECT_EQ(icetGetError(), ICET_INVALID_VALUE) << "the rank has a tile";
        icetResetTiles();
        EXPECT_EQ(icetAddTile(5, 0, 2147483647, 1, 0), -1);
        EXPECT_EQ(icetGetError(), ICET_INVALID_VALUE) << "beyond the range of coordinates";
        icetDrawFrame(identity, identity, none);
        EXPECT_EQ(icetGetError(), ICET_INVALID_OPERATION) << "no tile";
        icetAddTile(0, 0, 10, 8, 0);
        icetPhysicalRenderSize(2147483647, 2147483647);
        icetDrawFrame(identity, identity, none);
        EXPECT_EQ(icetGetError(), ICET_OUT_OF_MEMORY);
    });
}

TEST(IcetFrames, tiles_are_not_farther_apart_than_coordinates_reach) {
    on_threads(2, [&](IceTCommunicator communicator) {
        const Scene scene(communicator, 10, 8, 0);
        icetResetTiles();
        EXPECT_EQ(icetAddTile(-2000000000, 0, 10, 10, 0), 0);
        EXPECT_EQ(icetAddTile(2000000000, 0, 10, 10, 1), -1);
        EXPECT_EQ(icetGetError(), ICET_INVALID_VALUE);
    });
}

void change_while_drawing(const IceTDouble*, const IceTDouble*, const IceTFloat*, const IceTInt*,
                          IceTImage image) {
    icetSetColorFormat(ICET_IMAGE_COLOR_RGBA_FLOAT);
    EXPECT_EQ(icetGetError(), ICET_INVALID_OPERATION);
    icetSetDepthFormat(ICET_IMAGE_DEPTH_NONE);
    EXPECT_EQ(icetGetError(), ICET_INVALID_OPERATION);
    icetDestroyContext(icetGetContext());
    EXPECT_EQ(icetGetError(), ICET_INVALID_OPERATION);
    icetCompositeMode(ICET_COMPOSITE_MODE_BLEND); // takes effect in the next frame
    std::memset(icetImageGetColorub(image), 9, 4 * 10 * 8);
    std::fill_n(icetImageGetDepthf(image), 10 * 8, .5F);
}

TEST(IcetFrames, formats_do_not_change_within_a_frame) {
    on_threads(2, [&](IceTCommunicator communicator) {
        const Scene scene(communicator, 10, 8, 0);
        icetAddTile(20, 0, 10, 8, 1);
        icetPhysicalRenderSize(10, 8);
        icetDrawCallback(change_while_drawing);
        const IceTImage image = icetDrawFrame(identity, identity, none);
        ASSERT_EQ(icetGetError(), ICET_NO_ERROR);
        EXPECT_EQ(icetImageGetColorcub(image)[4 * 79], 9);
        EXPECT_EQ(icetImageGetDepthcf(image)[79], .5F);
    });
}

void draw_nothing(const IceTDouble*, const IceTDouble*, const IceTFloat*, const IceTInt*,
                  IceTImage image) {
    std::fill_n(icetImageGetColorf(image), 4 * 10 * 8, 0.F);
}

TEST(IcetFrames, faint_backgrounds_of_floats_are_blended) {
    on_threads(2, [&](IceTCommunicator communicator) {
        const Scene scene(communicator, 10, 8, 0);
        icetCompositeMode(ICET_COMPOSITE_MODE_BLEND);
        icetSetColorFormat(ICET_IMAGE_COLOR_RGBA_FLOAT);
        icetSetDepthFormat(ICET_IMAGE_DEPTH_NONE);
        icetDrawCallback(draw_nothing);
        const float faint[4] = {.001F, -.5F, 0, .001F};
        for (const bool collected : {true, false}) {
            (collected ? icetEnable : icetDisable)(ICET_COLLECT_IMAGES);
            const IceTImage image = icetDrawFrame(identity, identity, faint);
            ASSERT_EQ(icetGetError(), ICET_NO_ERROR);
            if (scene.rank == 0) {
                EXPECT_TRUE(std::equal(faint, faint + 4, icetImageGetColorcf(image)));
            }
        }
    });
}

std::jmp_buf after_frame;
void leave_by_jump(const IceTDouble*, const IceTDouble*, const IceTFloat*, const IceTInt*,
                   IceTImage) {
    std::longjmp(after_frame, 1);
}

/// Calls a function deeper in the stack than the test. The function's own data overwrites the stack
/// there.
template <std::size_t size>
__attribute__((noinline)) void call_deeper(const std::function<void()>& function) {
    std::array<volatile char, size> deep;
    std::fill(deep.begin(), deep.end(), char{1});
    function();
    EXPECT_EQ(deep.back(), 1);
}

TEST(IcetFrames, a_context_whose_frame_was_left_by_longjmp_draws_again_and_is_destroyed) {
    for (const bool draws_deeper : {false, true}) {
        for (const bool draws_again : {false, true}) {
            for (const bool destroys_deeper : {false, true}) {
                on_threads(1, [&](IceTCommunicator communicator) {
                    IceTContext context = icetCreateContext(communicator);
                    icetDiagnostics(ICET_DIAG_OFF);
                    icetAddTile(0, 0, 10, 8, 0);
                    icetStrategy(ICET_STRATEGY_SEQUENTIAL);
                    icetDrawCallback(leave_by_jump);
                    if (setjmp(after_frame) == 0) {
                        const auto draw_frame = [] { icetDrawFrame(identity, identity, none); };
                        draws_deeper ? call_deeper<20'000>(draw_frame) : draw_frame();
                        ADD_FAILURE() << "the callback returned";
                    }
                    if (draws_again) {
                        icetCompositeMode(ICET_COMPOSITE_MODE_BLEND);
                        icetSetColorFormat(ICET_IMAGE_COLOR_RGBA_FLOAT);
                        icetSetDepthFormat(ICET_IMAGE_DEPTH_NONE);
                        icetDrawCallback(draw_nothing);
                        icetDrawFrame(identity, identity, none);
                        EXPECT_EQ(icetGetError(), ICET_NO_ERROR);
                    }
                    const auto destroy = [context] { icetDestroyContext(context); };
                    destroys_deeper ? call_deeper<40'000>(destroy) : destroy();
                    EXPECT_EQ(icetGetError(), ICET_NO_ERROR);
                    EXPECT_EQ(icetGetContext(), nullptr);
                });
            }
        }
    }
}

TEST(IcetFrames, a_destroyed_context_is_not_used) {
    on_threads(1, [&](IceTCommunicator communicator) {
        IceTContext context = icetCreateContext(communicator);
        icetDestroyContext(context);
        EXPECT_EQ(icetGetContext(), nullptr);
        icetDrawFrame(identity, identity, none);
        EXPECT_EQ(icetGetError(), ICET_INVALID_OPERATION);
        icetSetContext(context);
        EXPECT_EQ(icetGetError(), ICET_INVALID_VALUE);
        icetDestroyContext(context);
        EXPECT_EQ(icetGetError(), ICET_INVALID_VALUE);
        IceTEnum value = 0;
        icetGetEnumv(ICET_COLOR_FORMAT, &value);
        EXPECT_EQ(icetGetError(), ICET_INVALID_OPERATION);
    });
}

TEST(IcetFrames, data_replication_groups_share_their_rows) {
    constexpr int ranks = 4, width = 20, height = 13;
    on_threads(ranks, [&](IceTCommunicator communicator) {
        const Scene scene(communicator, width, height, 0);
        icetDataReplicationGroupColor(scene.rank / 2);
        drawing_rank = scene.rank / 2; // members of a group draw the same image
        const IceTImage image = icetDrawFrame(identity, identity, none);
        ASSERT_EQ(icetGetError(), ICET_NO_ERROR);
        if (scene.rank != 0)
            return;
        for (int y = 0; y < height; ++y) {
            for (int x = 0; x < width; ++x) {
                float depth = 1;
                for (const int drawn : {0, 1}) {
                    if (draws(drawn, x, width))
                        depth = std::min(depth, depth_of(drawn, x, y));
                }
                ASSERT_EQ(icetImageGetDepthcf(image)[y * width + x], depth) << x << ", " << y;
            }
        }
    });
}

TEST(IcetFrames, images_may_stay_distributed) {
    constexpr int ranks = 3, width = 17, height = 10;
    std::atomic<int> pixels = 0;
    on_threads(ranks, [&](IceTCommunicator communicator) {
        const Scene scene(communicator, width, height, 0);
        icetDisable(ICET_COLLECT_IMAGES);
        const IceTImage image = icetDrawFrame(identity, identity, none);
        ASSERT_EQ(icetGetError(), ICET_NO_ERROR);
        IceTInt first = 0, count = 0, tile = -1;
        icetGetIntegerv(ICET_VALID_PIXELS_OFFSET, &first);
        icetGetIntegerv(ICET_VALID_PIXELS_NUM, &count);
        icetGetIntegerv(ICET_VALID_PIXELS_TILE, &tile);
        EXPECT_EQ(tile, count > 0 ? 0 : -1);
        pixels += count;
        for (int i = first; i < first + count; ++i) {
            float depth = 1;
            for (int rank = 0; rank < ranks; ++rank) {
                if (draws(rank, i % width, width))
                    depth = std::min(depth, depth_of(rank, i % width, i / width));
            }
            ASSERT_EQ(icetImageGetDepthcf(image)[i], depth) << i;
        }
    });
    EXPECT_EQ(pixels, width * height);
}

TEST(IcetFrames, ranks_keep_the_same_images_after_failures) {
    constexpr int ranks = 2;
    on_threads(ranks, [&](IceTCommunicator communicator) {
        const Scene scene(communicator, 12, 9, 0);
        for (int frame = 0; frame < 60; ++frame) {
            icetResetTiles(); // one tile that stays, and one that is resized
            icetAddTile(0, 0, 12, 9, 0);
            icetAddTile(12, 0, 5 + frame % 23, 8, 1);
            throws = frame % 7 == 3 && scene.rank == frame % 2;
            const bool fails = frame % 7 == 3;
            icetDrawFrame(identity, identity, none);
            EXPECT_EQ(icetGetError(), fails ? ICET_INVALID_OPERATION : ICET_NO_ERROR) << frame;
        }
        throws = false;
    });
}

/// The state variables that IceT's environment variables set.
std::array<IceTInt, 2> splitting() {
    std::array<IceTInt, 2> values{};
    icetGetIntegerv(ICET_MAGIC_K, &values[0]);
    icetGetIntegerv(ICET_MAX_IMAGE_SPLIT, &values[1]);
    return values;
}

TEST(IcetFrames, numbers_in_the_environment_become_state_variables_of_later_contexts) {
    struct Case {
        const char *magic_k, *split;
        std::array<IceTInt, 2> expected;
        IceTEnum error;
    };
    for (const Case& c :
         {Case{nullptr,
               nullptr,
               {ICET_MAGIC_K_DEFAULT, ICET_MAX_IMAGE_SPLIT_DEFAULT},
               ICET_NO_ERROR},
          Case{"2", "1", {2, 1}, ICET_NO_ERROR}, Case{"16", "4", {16, 4}, ICET_NO_ERROR},
          Case{"1", "4", {ICET_MAGIC_K_DEFAULT, 4}, ICET_INVALID_VALUE},
          Case{"4", "0", {4, ICET_MAX_IMAGE_SPLIT_DEFAULT}, ICET_INVALID_VALUE},
          Case{
              "four", "", {ICET_MAGIC_K_DEFAULT, ICET_MAX_IMAGE_SPLIT_DEFAULT}, ICET_INVALID_VALUE},
          Case{"99999999999",
               "-3",
               {ICET_MAGIC_K_DEFAULT, ICET_MAX_IMAGE_SPLIT_DEFAULT},
               ICET_INVALID_VALUE}}) {
        const auto set = [](const char* name, const char* value) {
            if (value)
                setenv(name, value, 1);
            else
                unsetenv(name);
        };
        set("ICET_MAGIC_K", c.magic_k);
        set("ICET_MAX_IMAGE_SPLIT", c.split);
        on_threads(2, [&](IceTCommunicator communicator) {
            const Scene scene(communicator, 20, 10, 0);
            EXPECT_EQ(icetGetError(), c.error);
            EXPECT_EQ(splitting(), c.expected);
            icetDrawFrame(identity, identity, none);
            EXPECT_EQ(icetGetError(), ICET_NO_ERROR);
        });
        set("ICET_MAGIC_K", nullptr);
        set("ICET_MAX_IMAGE_SPLIT", nullptr);
    }
}

TEST(IcetFrames, ranks_that_disagree_print_their_orders_and_tiles) {
    constexpr int ranks = 3;
    testing::internal::CaptureStderr();
    on_threads(ranks, [](IceTCommunicator communicator) {
        const Scene scene(communicator, 8, 8, 0);
        icetDiagnostics(ICET_DIAG_ERRORS | ICET_DIAG_ALL_NODES);
        icetEnable(ICET_ORDERED_COMPOSITE);
        const IceTInt order[] = {2, 1, 0}, other[] = {1, 2, 0};
        icetCompositeOrder(scene.rank == 2 ? other : order);
        icetDrawFrame(identity, identity, none);
        EXPECT_EQ(icetGetError(), ICET_INVALID_VALUE);
        icetCompositeOrder(order);
        icetResetTiles();
        icetAddTile(0, 0, 8, scene.rank == 1 ? 9 : 8, 0);
        icetDrawFrame(identity, identity, none);
        EXPECT_EQ(icetGetError(), ICET_INVALID_VALUE);
        icetResetTiles();
        icetAddTile(0, 0, 8, 8, 0);
        icetDrawFrame(identity, identity, none);
        EXPECT_EQ(icetGetError(), ICET_NO_ERROR);
    });
    const std::string said = testing::internal::GetCapturedStderr();
    for (int rank = 0; rank < ranks; ++rank) {
        const std::string from = "icetDrawFrame: rank " + std::to_string(rank) + ": error: ";
        EXPECT_NE(said.find(from + "the composite order differs between ranks: rank 0: 2,1,0; "
                                   "rank 2: 1,2,0\n"),
                  std::string::npos)
            << said;
        EXPECT_NE(said.find(from + "the layout of tiles differs between ranks: rank 0: 8x8 at "
                                   "0, 0 displayed by rank 0; rank 1: 8x9 at 0, 0 displayed by "
                                   "rank 0\n"),
                  std::string::npos)
            << said;
    }
}

/// The resident memory of this process, in MiB.
double resident() {
    std::ifstream file("/proc/self/statm");
    double pages = 0;
    file >> pages >> pages;
    return pages * 4096 / (1 << 20);
}

TEST(IcetFrames, memory_does_not_grow) {
    constexpr int ranks = 2, width = 256, height = 200;
    on_threads(ranks, [&](IceTCommunicator communicator) {
        double before = 0;
        for (int turn = 0; turn < 12; ++turn) {
            const Scene scene(communicator, width, height, 0);
            for (int frame = 0; frame < 50; ++frame) {
                if (frame % 10 == 9) { // the window is resized
                    icetResetTiles();
                    icetAddTile(0, 0, width - frame, height - turn, 0);
                }
                icetDrawFrame(identity, identity, none);
                ASSERT_EQ(icetGetError(), ICET_NO_ERROR);
            }
            communicator->Barrier(communicator);
            if (turn == 3)
                before = resident();
        }
        // Without reuse, each of the 80 later sizes would need 1 MiB.
        EXPECT_LT(resident(), before + 8);
    });
}

} // namespace
} // namespace sextant::icet::test
