// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositor/frames_in_flight.hpp"
#include "sextant/compositor/tile_wall.hpp"
#include "sextant/kernel/fold/catalogue.hpp"
#include "sextant/kernel/fold/pixel_formats.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/compositor_cases.hpp"
#include <fmt/format.h>

// Tests of visibility orders that change from frame to frame, on any communicator, used by the
// tests over threads and over MPI. Each function is collective.
namespace sextant::test {

/// Orders of all ranks, the same on every rank; each differs from the previous one if possible.
inline std::vector<std::vector<int>> changing_orders(int ranks, int count) {
    std::mt19937 random(static_cast<unsigned>(100 * ranks + count));
    std::vector<int> order(static_cast<std::size_t>(ranks));
    std::iota(order.begin(), order.end(), 0);
    std::vector<std::vector<int>> orders;
    while (static_cast<int>(orders.size()) < count) {
        std::shuffle(order.begin(), order.end(), random);
        if (orders.empty() || ranks == 1 || orders.back() != order)
            orders.push_back(order);
    }
    return orders;
}

inline std::vector<RgbaF32> pixels_of(const Frame& frame) {
    const auto pixels = frame.pixels<RgbaF32>();
    return {pixels.begin(), pixels.end()};
}

/// Expects, for each order, the same bits as from a compositor created for this order.
inline void expect_as_made_for_each_order(const Communicator& communicator,
                                          CompositeOptions options, int images, int frames,
                                          const std::string& what) {
    const ImageShape shape{61, 17};
    const int rank = communicator.rank();
    const auto image = layers(10 * rank, images, shape.elements());
    Compositor turning(communicator, shape, images, options);
    for (const std::vector<int>& order : changing_orders(communicator.size(), frames)) {
        options.order = order;
        options.background = RgbaF32{.1f, .2f, unit(static_cast<std::uint64_t>(order[0])), 1};
        Compositor made(communicator, shape, images, options);
        const Frame expected = made.composite(std::span<const RgbaF32>(image));
        for (int again = 0; again < 2; ++again) {
            const Frame frame =
                turning.composite(std::span<const RgbaF32>(image), {order, options.background});
            EXPECT_EQ(frame.first, expected.first) << what;
            EXPECT_EQ(frame.count, expected.count) << what;
            EXPECT_EQ(pixels_of(frame), pixels_of(expected)) << what;
            for (Elements i = 0; i < frame.count; i += 7)
                ASSERT_EQ(turning.pixel(frame, i), made.pixel(expected, i)) << what;
        }
        EXPECT_EQ(turning.task().order, made.task().order) << what;
    }
}

inline void frames_equal_those_of_a_compositor_for_their_order(const Communicator& communicator) {
    const int ranks = communicator.size(), rank = communicator.rank();
    const std::vector<int> uneven = communicator.all_gather(ranks == 1 ? 1 : (rank + 1) % 3);
    const auto holders =
        static_cast<int>(uneven.size() - std::count(uneven.begin(), uneven.end(), 0));
    for (const auto& algorithm : compositing::catalogue()) {
        for (const int root : {0, ranks - 1, CompositeOptions::distributed}) {
            CompositeOptions options;
            options.algorithm = algorithm.name;
            options.root = root;
            const std::string what = fmt::format("{}, root {}", algorithm.name, root);
            if (!algorithm.tunings(ranks).empty())
                expect_as_made_for_each_order(communicator, options, 1, 2, what);
            if (!algorithm.tunings(holders).empty()) {
                expect_as_made_for_each_order(communicator, options,
                                              uneven[static_cast<std::size_t>(rank)], 2,
                                              what + ", uneven");
            }
        }
    }
}

inline void tunings_support_changing_orders(const Communicator& communicator) {
    CompositeOptions sparse;
    sparse.algorithm = "direct-send";
    sparse.sparse = planner::Sparse::on;
    expect_as_made_for_each_order(communicator, sparse, 1, 5, "sparse");
    CompositeOptions interlaced;
    interlaced.algorithm = "radix-k";
    interlaced.interlace = planner::Interlace::on;
    interlaced.root = CompositeOptions::distributed;
    expect_as_made_for_each_order(communicator, interlaced, 1, 5, "interlaced");
    CompositeOptions several;
    several.algorithm = "direct-send";
    several.threads = 2;
    expect_as_made_for_each_order(communicator, several, 2, 3, "threads that fold");
}

/// The serial fold of layers, front to back, where `covers(position, pixel)`.
template <class Covers>
std::vector<RgbaF32> serial_fold(const std::vector<int>& order, Elements elements,
                                 const Covers& covers) {
    std::vector<RgbaF32> sum(static_cast<std::size_t>(elements));
    for (std::size_t at = 0; at < order.size(); ++at) {
        for (Elements i = 0; i < elements; ++i) {
            if (covers(at, i)) {
                RgbaF32& front = sum[static_cast<std::size_t>(i)];
                front = kernel::over(front, pixel(order[at], i));
            }
        }
    }
    return sum;
}

/// The serial fold of one image per rank, in a given order.
inline std::vector<RgbaF32> serial_in_order(const std::vector<int>& order, Elements elements) {
    return serial_fold(order, elements, [](std::size_t, Elements) { return true; });
}

inline void races_allow_changing_orders(const Communicator& communicator) {
    const ImageShape shape{61, 17};
    const UndecidedMachine machine(communicator);
    CompositeOptions options;
    options.machine = machine.path();
    options.root = 0;
    options.frames = 100;
    Compositor compositor(communicator, shape, 1, options);
    const auto image = layers(communicator.rank(), 1, shape.elements());
    for (const std::vector<int>& order : changing_orders(communicator.size(), 30)) {
        const Frame frame = compositor.composite(std::span<const RgbaF32>(image), {.order = order});
        if (communicator.rank() != 0)
            continue;
        EXPECT_LE(difference(pixels_of(frame), serial_in_order(order, shape.elements())),
                  0x1p-23f * static_cast<float>(communicator.size()));
    }
    EXPECT_FALSE(compositor.racing());
}

/// Text of the exception that composite() throws on this rank.
inline std::string thrown_by_frame(Compositor& compositor, const FrameOptions& frame) {
    const std::vector<RgbaF32> image(static_cast<std::size_t>(compositor.task().elements));
    return what_is_thrown([&] { compositor.composite(std::span<const RgbaF32>(image), frame); });
}

inline void orders_that_differ_between_ranks_are_reported(const Communicator& communicator) {
    const int ranks = communicator.size(), rank = communicator.rank();
    if (ranks < 2)
        return;
    const ImageShape shape{8, 8};
    Compositor compositor(communicator, shape, 1);
    std::vector<int> order(static_cast<std::size_t>(ranks));
    std::iota(order.rbegin(), order.rend(), 0); // from the last rank to the first
    std::vector<int> other = order;
    std::rotate(other.begin(), other.begin() + ranks / 2, other.end());
    std::swap(other.front(), other.back());
    if (other == order || ranks == 2)
        other = {0, 1};
    const RgbaF32 grey{.5f, .5f, .5f, 1};
    if (ranks > 2) {
        const bool is_odd = rank == ranks - 1;
        const auto said = fmt::format("invalid: ranks request different frames: rank 0: visibility "
                                      "order {}, no background; rank {}: visibility order {}, no "
                                      "background",
                                      fmt::join(order, ","), ranks - 1, fmt::join(other, ","));
        EXPECT_EQ(thrown_by_frame(compositor, {.order = is_odd ? other : order}), said);
        EXPECT_EQ(thrown_by_frame(compositor, {.order = is_odd ? order : other}) == said, false);
    }
    const std::string colours =
        thrown_by_frame(compositor, {order, rank == 0 ? grey : RgbaF32{.25f, 0, 0, 1}});
    EXPECT_THAT(colours, testing::HasSubstr("rank 0: visibility order "));
    EXPECT_THAT(colours, testing::HasSubstr("background 0.5,0.5,0.5,1; rank 1: "));
    for (int frame = 0; frame < 3; ++frame)
        expect_picture(communicator, compositor, shape); // no rank started a refused frame
    std::vector<int> twice = order;
    twice.front() = twice.back();
    for (int frame = 0; frame < 2; ++frame) {
        EXPECT_EQ(thrown_by_frame(compositor, {.order = twice}),
                  "task: visibility order names rank 0 twice");
    }
    std::vector<int> unknown = order;
    unknown.push_back(ranks);
    EXPECT_EQ(
        thrown_by_frame(compositor, {.order = unknown}),
        fmt::format("task: visibility order names rank {}: expected 0 to {}", ranks, ranks - 1));
    expect_picture(communicator, compositor, shape);
}

/// One rank, or all but one, keeps the previous order, and therefore starts the frame at once.
/// Every algorithm runs on four ranks, because each case takes half a second if ranks share a core.
inline void a_change_on_only_some_ranks_is_reported(const Communicator& communicator) {
    const int ranks = communicator.size(), rank = communicator.rank();
    if (ranks < 2)
        return;
    for (const auto& algorithm : compositing::catalogue()) {
        if (algorithm.tunings(ranks).empty() || (ranks != 4 && algorithm.name != "direct-send"))
            continue;
        for (const bool one_changes : {false, true}) {
            const Communicator own = communicator.split(0, rank); // a failure makes it unusable
            CompositeOptions options;
            options.algorithm = algorithm.name;
            options.root = CompositeOptions::distributed;
            Compositor compositor(own, {40, 30}, 1, options);
            expect_picture(own, compositor, {40, 30});
            std::vector<int> order(static_cast<std::size_t>(ranks));
            std::iota(order.rbegin(), order.rend(), 0);
            const bool changes = (rank == ranks / 2) == one_changes;
            // A rank that only sends never waits. It notices the error in the first frame that it
            // starts after the other ranks have sent it their order.
            std::string said = "nothing";
            for (int frame = 0; frame < 1000 && said == "nothing"; ++frame) {
                if (frame > 1)
                    std::this_thread::sleep_for(std::chrono::milliseconds(10));
                said = thrown_by_frame(compositor, {.order = changes ? order : std::vector<int>()});
            }
            EXPECT_THAT(said, testing::StartsWith("invalid: ranks request different frames"))
                << algorithm.name << " on " << ranks << ", rank " << rank;
            EXPECT_THAT(said, testing::HasSubstr(fmt::format("order {}", fmt::join(order, ","))));
            const std::vector<std::string> all = all_gather_texts(communicator, said);
            EXPECT_EQ(said, all.front());
        }
    }
}

inline void ranks_without_images_may_pass_any_order(const Communicator& communicator) {
    const int ranks = communicator.size(), rank = communicator.rank();
    if (ranks < 4)
        return;
    const ImageShape shape{20, 10};
    const int images = rank == 3 ? 0 : 1;
    Compositor compositor(communicator, shape, images);
    const auto image = layers(rank, images, shape.elements());
    for (const std::vector<int>& order : changing_orders(ranks, 3)) {
        const Frame frame = compositor.composite(std::span<const RgbaF32>(image),
                                                 {.order = rank == 3 ? std::vector<int>() : order});
        std::vector<int> drawn = order;
        std::erase(drawn, 3);
        if (rank == 0) {
            EXPECT_LE(difference(pixels_of(frame), serial_in_order(drawn, shape.elements())),
                      0x1p-23f * static_cast<float>(ranks));
        }
    }
}

inline void frames_in_flight_may_have_different_orders(const Communicator& communicator) {
    const int ranks = communicator.size(), rank = communicator.rank();
    const ImageShape shape{61, 17};
    CompositeOptions options;
    options.algorithm = "direct-send";
    options.root = ranks - 1;
    const auto image = layers(rank, 1, shape.elements());
    FramesInFlight frames(communicator, shape, 1, 3, options);
    const std::vector<std::vector<int>> orders = changing_orders(ranks, 12);
    for (std::size_t first = 0; first < orders.size(); first += 3) {
        std::vector<PendingFrame> pending;
        for (std::size_t i = 0; i < 3; ++i)
            pending.push_back(
                frames.start(std::span<const RgbaF32>(image), {}, {.order = orders[first + i]}));
        for (std::size_t i = 0; i < 3; ++i) {
            const std::size_t which = (i + static_cast<std::size_t>(rank)) % 3;
            const auto pixels = pixels_of(pending[which].wait());
            if (rank == ranks - 1) {
                EXPECT_EQ(pixels, serial_in_order(orders[first + which], shape.elements()));
            }
        }
    }
}

/// Number of allocations in frames with changing orders, after every order was used three times.
/// `by_image`: orders of images; `is_drawn`: images are drawn in rectangles.
inline long allocations_of_turning_frames(const Communicator& communicator,
                                          CompositeOptions options,
                                          const std::function<long()>& counted,
                                          bool by_image = false, bool is_drawn = false) {
    const ImageShape shape{201, 199};
    const int ranks = communicator.size();
    for (int rank = 0; by_image && rank < ranks; ++rank)
        options.image_order.push_back({rank, 0});
    Compositor compositor(communicator, shape, 1, options);
    const Rectangle drawn{10 * communicator.rank(), 5, 120, 180};
    if (is_drawn)
        compositor.set_drawn({&drawn, 1});
    const auto image = layers(communicator.rank(), 1, shape.elements());
    std::vector<std::vector<int>> orders;
    for (int i = 0; i < ranks; ++i) {
        orders.emplace_back(static_cast<std::size_t>(ranks));
        std::iota(orders.back().begin(), orders.back().end(), 0);
        std::rotate(orders.back().begin(), orders.back().begin() + i, orders.back().end());
    }
    std::vector<std::vector<ImageOfRank>> of_images;
    for (const std::vector<int>& order : orders) {
        of_images.emplace_back();
        for (const int rank : order)
            of_images.back().push_back({rank, 0});
    }
    const auto turn = [&] {
        for (std::size_t i = 0; i < orders.size(); ++i) {
            FrameOptions frame;
            if (by_image)
                frame.image_order = of_images[i];
            else
                frame.order = orders[i];
            compositor.composite(std::span<const RgbaF32>(image), frame);
        }
    };
    turn();
    turn();
    turn();
    communicator.barrier();
    const long before = counted();
    communicator.barrier();
    turn();
    turn();
    communicator.barrier();
    const long after = counted();
    communicator.barrier();
    return after - before;
}

/// Orders of all images of all ranks, the same on every rank.
inline std::vector<std::vector<ImageOfRank>> image_orders(const std::vector<int>& counts,
                                                          int orders) {
    std::vector<ImageOfRank> images;
    for (std::size_t rank = 0; rank < counts.size(); ++rank) {
        for (int image = 0; image < counts[rank]; ++image)
            images.push_back({static_cast<int>(rank), image});
    }
    std::mt19937 random(static_cast<unsigned>(images.size()));
    std::vector<std::vector<ImageOfRank>> all;
    for (int i = 0; i < orders; ++i) {
        std::shuffle(images.begin(), images.end(), random);
        all.push_back(images);
    }
    return all;
}

/// Image `image` of a rank is that of this layer.
inline int layer_of(const ImageOfRank& image) {
    return 10 * image.rank + image.image;
}

/// The serial fold of images that are empty outside of their rectangles.
inline std::vector<RgbaF32> serial_in_order(const std::vector<ImageOfRank>& order, ImageShape shape,
                                            const std::function<Rectangle(ImageOfRank)>& drawn) {
    std::vector<int> numbers;
    std::vector<Rectangle> areas;
    for (const ImageOfRank& image : order) {
        numbers.push_back(layer_of(image));
        areas.push_back(drawn(image));
    }
    return serial_fold(numbers, shape.elements(), [&](std::size_t at, Elements i) {
        return areas[at].contains(i % shape.width, i / shape.width);
    });
}

/// Numbers of images per rank: uneven, and none on some.
inline std::vector<int> uneven_counts(const Communicator& communicator) {
    return communicator.all_gather(communicator.size() == 1 ? 3
                                                            : (2 * communicator.rank() + 1) % 4);
}

/// Expects this rank's piece of `whole`; `bound`: the largest difference.
inline void expect_part(const std::vector<RgbaF32>& whole, Compositor& compositor,
                        const Frame& frame, float bound, const std::string& what) {
    const auto found = pixels_of(frame);
    std::vector<RgbaF32> expected;
    for (Elements i = 0; i < frame.count; ++i)
        expected.push_back(whole[static_cast<std::size_t>(compositor.pixel(frame, i))]);
    EXPECT_LE(difference(found, expected), bound) << what;
}

inline void images_of_ranks_may_interleave(const Communicator& communicator) {
    const ImageShape shape{61, 17};
    const int ranks = communicator.size(), rank = communicator.rank();
    const std::vector<int> counts = uneven_counts(communicator);
    const int own = counts[static_cast<std::size_t>(rank)];
    const int holders = static_cast<int>(ranks - std::count(counts.begin(), counts.end(), 0));
    const auto image = layers(10 * rank, own, shape.elements());
    const auto whole = [&](ImageOfRank) { return Rectangle{0, 0, shape.width, shape.height}; };
    const auto orders = image_orders(counts, 3);
    for (const char* algorithm : {"auto", "direct-send", "shift-based", "radix-k", "binary-swap"}) {
        if (algorithm == std::string("binary-swap") && (holders & (holders - 1)) != 0)
            continue;
        for (const int root : {0, ranks - 1, CompositeOptions::distributed}) {
            CompositeOptions options;
            options.algorithm = algorithm;
            options.root = root;
            options.interlace = root == 0 ? planner::Interlace::off : planner::Interlace::on;
            options.sparse = root == 0 ? planner::Sparse::on : planner::Sparse::automatic;
            options.image_order = orders[0];
            Compositor compositor(communicator, shape, own, options);
            for (std::size_t i = 0; i < 2 * orders.size(); ++i) {
                const auto& order = orders[i % orders.size()];
                const Frame frame =
                    compositor.composite(std::span<const RgbaF32>(image), {.image_order = order});
                const auto& used = *compositor.plan().configuration.algorithm;
                expect_part(serial_in_order(order, shape, whole), compositor, frame,
                            tolerance(used, Association::in_order, static_cast<int>(order.size())),
                            fmt::format("{} on {}, root {}", used.name, ranks, root));
            }
        }
    }
}

inline void invalid_image_orders_are_reported_on_all_ranks(const Communicator& communicator) {
    const ImageShape shape{8, 8};
    const int ranks = communicator.size(), rank = communicator.rank();
    std::vector<ImageOfRank> order;
    for (int image = 1; image >= 0; --image) {
        for (int i = 0; i < ranks; ++i)
            order.push_back({i, image});
    }
    const auto made = [&](CompositeOptions options) {
        return what_is_thrown([&] { Compositor(communicator, shape, 2, options); });
    };
    CompositeOptions options;
    options.image_order = order;
    options.algorithm = "binary-tree";
    EXPECT_THAT(made(options),
                testing::StartsWith("invalid: binary-tree requires the images of a rank to be "
                                    "adjacent; an order of images requires direct-send"));
    options.algorithm = "auto";
    options.order = {0};
    EXPECT_EQ(made(options),
              "invalid: both an order of ranks and an order of images are given, expected one of "
              "them");
    options.order.clear();
    options.image_order.pop_back();
    EXPECT_EQ(made(options),
              fmt::format("invalid: image order names {} of {} images", 2 * ranks - 1, 2 * ranks));
    options.image_order.push_back({0, 1});
    EXPECT_EQ(made(options), "invalid: image order names image 1 of rank 0 twice");
    options.image_order.back() = {0, 2};
    EXPECT_EQ(made(options), "invalid: image order names image 2 of rank 0, which does not exist");
    options.image_order = order;
    if (ranks > 1) {
        std::swap(options.image_order[0], options.image_order[rank == 1 ? 1 : 0]);
        EXPECT_THAT(made(options), testing::HasSubstr("rank 0: image order 0:1,1:1"));
        EXPECT_THAT(made(options), testing::HasSubstr("; rank 1: image order 1:1,0:1"));
    }
    options.image_order = order;
    const auto image = layers(10 * rank, 2, shape.elements());
    const std::span<const RgbaF32> pixels(image);
    Compositor compositor(communicator, shape, 2, options), by_rank(communicator, shape, 2);
    std::vector<ImageOfRank> twice = order;
    twice[0] = twice[1];
    const std::vector<int> of_ranks{0};
    EXPECT_THAT(what_is_thrown([&] { compositor.composite(pixels, {.image_order = twice}); }),
                testing::HasSubstr(" twice"));
    EXPECT_THAT(what_is_thrown([&] { compositor.composite(pixels, {.order = of_ranks}); }),
                testing::HasSubstr("the frame has an order of ranks, but the options"));
    EXPECT_THAT(what_is_thrown([&] { by_rank.composite(pixels, {.image_order = order}); }),
                testing::HasSubstr("the frame has an order of images, but the options"));
    FrameOptions both;
    both.order = of_ranks;
    both.image_order = order;
    EXPECT_THAT(what_is_thrown([&] { compositor.composite(pixels, both); }),
                testing::StartsWith("task: "));
    if (ranks > 1) {
        std::vector<ImageOfRank> other = order, another = order;
        std::swap(other[0], other.back());
        std::swap(another[0], another[1]);
        EXPECT_THAT(what_is_thrown([&] {
                        compositor.composite(pixels, {.image_order = rank == 0 ? other : another});
                    }),
                    testing::HasSubstr("ranks request different frames: rank 0: image order "));
    }
    EXPECT_THAT(what_is_thrown([&] {
                    TileWall(communicator, {{{0, 0, 8, 8}, 0}}, {}, options);
                }),
                testing::StartsWith("invalid: each rank has one image per tile"));
    const auto whole = [&](ImageOfRank) { return Rectangle{0, 0, shape.width, shape.height}; };
    const Frame frame = compositor.composite(pixels);
    expect_part(serial_in_order(order, shape, whole), compositor, frame,
                0x1p-23f * static_cast<float>(2 * ranks), "after errors");
}

/// The rectangle of an image in a turn; some are empty, some are the whole image.
inline Rectangle drawn_in(const ImageOfRank& image, int turn, ImageShape shape) {
    std::mt19937 random(static_cast<unsigned>(1000 * turn + layer_of(image)));
    const auto up_to = [&](std::int64_t most) {
        return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most + 1));
    };
    if (up_to(4) == 0)
        return {0, 0, shape.width, shape.height};
    const std::int64_t left = up_to(shape.width), top = up_to(shape.height);
    return {left, top, up_to(shape.width - left), up_to(shape.height - top)};
}

/// The images of a rank, with NaN outside of their rectangles.
inline std::vector<RgbaF32> drawn_images(int rank, int count, int turn, ImageShape shape) {
    std::vector<RgbaF32> images = layers(10 * rank, count, shape.elements());
    const float odd = std::numeric_limits<float>::quiet_NaN();
    for (int image = 0; image < count; ++image) {
        const Rectangle area = drawn_in({rank, image}, turn, shape);
        for (Elements i = 0; i < shape.elements(); ++i) {
            if (!area.contains(i % shape.width, i / shape.width))
                images[static_cast<std::size_t>(image * shape.elements() + i)] = {odd, odd, odd,
                                                                                  odd};
        }
    }
    return images;
}

inline void pixels_outside_of_rectangles_are_not_read(const Communicator& communicator) {
    const ImageShape shape{61, 17};
    const int ranks = communicator.size(), rank = communicator.rank();
    const std::vector<int> counts = uneven_counts(communicator);
    const int own = counts[static_cast<std::size_t>(rank)];
    const auto orders = image_orders(counts, 3);
    const RgbaF32 grey{.5f, .5f, .5f, 1};
    for (const int root : {0, ranks - 1, CompositeOptions::distributed}) {
        for (const bool by_image : {true, false}) {
            CompositeOptions options;
            options.root = root;
            if (by_image)
                options.image_order = orders[0];
            Compositor compositor(communicator, shape, own, options);
            for (int turn = 0; turn < 6; ++turn) {
                std::vector<Rectangle> drawn;
                for (int image = 0; image < own; ++image)
                    drawn.push_back(drawn_in({rank, image}, turn, shape));
                compositor.set_drawn(drawn);
                const auto images = drawn_images(rank, own, turn, shape);
                for (std::size_t again = 0; again < 3; ++again) {
                    std::vector<ImageOfRank> order = orders[again];
                    std::vector<int> of_ranks(static_cast<std::size_t>(ranks));
                    std::iota(of_ranks.begin(), of_ranks.end(), 0);
                    if (!by_image) {
                        std::rotate(of_ranks.begin(),
                                    of_ranks.begin() + static_cast<std::ptrdiff_t>(again) % ranks,
                                    of_ranks.end());
                        order.clear();
                        for (const int each : of_ranks) {
                            for (int i = 0; i < counts[static_cast<std::size_t>(each)]; ++i)
                                order.push_back({each, i});
                        }
                    }
                    FrameOptions options_of_frame;
                    if (by_image)
                        options_of_frame.image_order = order;
                    else
                        options_of_frame.order = of_ranks;
                    options_of_frame.background = again == 1 ? std::optional(grey) : std::nullopt;
                    auto whole = serial_in_order(order, shape, [&](ImageOfRank image) {
                        return drawn_in(image, turn, shape);
                    });
                    for (RgbaF32& each : whole) {
                        if (again == 1)
                            each = kernel::over(each, grey);
                    }
                    const Frame frame =
                        compositor.composite(std::span<const RgbaF32>(images), options_of_frame);
                    expect_part(whole, compositor, frame, 0, fmt::format("root {}", root));
                    if (rank == root) {
                        EXPECT_EQ(frame.count, shape.elements());
                    }
                }
            }
            compositor.set_drawn({}); // images are whole again
            const auto images = layers(10 * rank, own, shape.elements());
            const Frame frame = compositor.composite(std::span<const RgbaF32>(images));
            if (by_image) {
                const auto all = [&](ImageOfRank) {
                    return Rectangle{0, 0, shape.width, shape.height};
                };
                expect_part(serial_in_order(orders[0], shape, all), compositor, frame,
                            0x1p-23f * static_cast<float>(orders[0].size()), "whole");
            }
        }
    }
}

inline void invalid_rectangles_keep_the_previous_ones(const Communicator& communicator) {
    const ImageShape shape{8, 6};
    const int rank = communicator.rank(), odd = communicator.size() - 1;
    Compositor compositor(communicator, shape, 1);
    const Rectangle half{0, 0, 8, 3};
    compositor.set_drawn({&half, 1});
    const auto said = [&](std::vector<Rectangle> of_odd) {
        return what_is_thrown([&] {
            compositor.set_drawn(rank == odd ? std::span<const Rectangle>(of_odd)
                                             : std::span<const Rectangle>(&half, 1));
        });
    };
    EXPECT_THAT(
        said({{1, 0, 8, 3}}),
        testing::HasSubstr(fmt::format("rank {}: the rectangle of image 0, 8x3 pixels at (1, 0), "
                                       "is not within its 8x6 pixels",
                                       odd)));
    EXPECT_THAT(said({{0, -1, 8, 3}}), testing::HasSubstr("at (0, -1)"));
    EXPECT_THAT(said({half, half}),
                testing::HasSubstr(fmt::format("rank {}: 2 rectangles for 1 images", odd)));
    if (odd > 0) {
        EXPECT_THAT(said({}), testing::HasSubstr("0 rectangles for 1 images"));
    }
    std::vector<int> order(static_cast<std::size_t>(communicator.size()));
    std::iota(order.begin(), order.end(), 0);
    std::vector<RgbaF32> expected = serial_in_order(order, shape.elements());
    std::fill(expected.begin() + 24, expected.end(), RgbaF32{});
    const auto image = layers(rank, 1, shape.elements());
    expect_part(expected, compositor, compositor.composite(std::span<const RgbaF32>(image)), 0,
                "half");
    CompositeOptions deep;
    deep.blend = "deep";
    deep.fragments = 1;
    Compositor lists(communicator, shape, 1, deep);
    EXPECT_THAT(what_is_thrown([&] {
                    lists.set_drawn({&half, 1});
                }),
                testing::HasSubstr("deep images have no rectangles"));
}

inline void every_operator_takes_rectangles(const Communicator& communicator) {
    const ImageShape shape{37, 11};
    const int rank = communicator.rank();
    for (const char* blend : {"over", "add", "max", "nearest"}) {
        for (const Operator& op : kernel::find_family(blend).operators) {
            CompositeOptions options;
            options.blend = blend;
            options.element = op.element;
            options.algorithm = "direct-send";
            Compositor whole(communicator, shape, 1, options),
                drawn(communicator, shape, 1, options);
            const auto size = static_cast<std::size_t>(op.element.size);
            std::vector<std::byte> cleared(static_cast<std::size_t>(shape.elements()) * size);
            op.fill_identity(cleared.data(), shape.elements());
            std::vector<std::byte> dirty(cleared.size(), std::byte{0x55});
            const Rectangle area = drawn_in({rank, 0}, 1, shape);
            std::mt19937 random(static_cast<unsigned>(rank));
            for (Elements i = 0; i < shape.elements(); ++i) {
                if (!area.contains(i % shape.width, i / shape.width))
                    continue;
                for (std::size_t b = 0; b < size; ++b) { // small finite numbers in all formats
                    const auto at = static_cast<std::size_t>(i) * size + b;
                    cleared[at] = dirty[at] = static_cast<std::byte>(random() % 64);
                }
            }
            drawn.set_drawn({&area, 1});
            const Frame expected = whole.composite(std::span<const std::byte>(cleared));
            const Frame found = drawn.composite(std::span<const std::byte>(dirty));
            EXPECT_TRUE(std::equal(found.bytes.begin(), found.bytes.end(), expected.bytes.begin(),
                                   expected.bytes.end()))
                << blend << " of " << op.element.name;
        }
    }
}

inline std::vector<GroupCase> order_cases() {
    return {
        GROUP_CASE(frames_equal_those_of_a_compositor_for_their_order),
        GROUP_CASE(tunings_support_changing_orders),
        GROUP_CASE(races_allow_changing_orders),
        GROUP_CASE(orders_that_differ_between_ranks_are_reported),
        GROUP_CASE(ranks_without_images_may_pass_any_order),
        GROUP_CASE(frames_in_flight_may_have_different_orders),
        GROUP_CASE(images_of_ranks_may_interleave),
        GROUP_CASE(invalid_image_orders_are_reported_on_all_ranks),
        GROUP_CASE(pixels_outside_of_rectangles_are_not_read),
        GROUP_CASE(invalid_rectangles_keep_the_previous_ones),
        GROUP_CASE(every_operator_takes_rectangles),
    };
}

} // namespace sextant::test
