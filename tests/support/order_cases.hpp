// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositor/frames_in_flight.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
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
                expect_as_made_for_each_order(communicator, options, 1, 4, what);
            if (!algorithm.tunings(holders).empty()) {
                expect_as_made_for_each_order(communicator, options,
                                              uneven[static_cast<std::size_t>(rank)], 4,
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

/// The serial fold of one image per rank, in a given order.
inline std::vector<RgbaF32> serial_in_order(const std::vector<int>& order, Elements elements) {
    std::vector<RgbaF32> sum(static_cast<std::size_t>(elements));
    for (const int rank : order) {
        for (Elements i = 0; i < elements; ++i) {
            RgbaF32& front = sum[static_cast<std::size_t>(i)];
            const RgbaF32 back = pixel(rank, i);
            const float through = 1.0f - front.a;
            front = {front.r + through * back.r, front.g + through * back.g,
                     front.b + through * back.b, front.a + through * back.a};
        }
    }
    return sum;
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
inline void a_change_on_only_some_ranks_is_reported(const Communicator& communicator) {
    const int ranks = communicator.size(), rank = communicator.rank();
    if (ranks < 2)
        return;
    for (const auto& algorithm : compositing::catalogue()) {
        if (algorithm.tunings(ranks).empty())
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
inline long allocations_of_turning_frames(const Communicator& communicator,
                                          const CompositeOptions& options,
                                          const std::function<long()>& counted) {
    const ImageShape shape{201, 199};
    const int ranks = communicator.size();
    Compositor compositor(communicator, shape, 1, options);
    const auto image = layers(communicator.rank(), 1, shape.elements());
    std::vector<std::vector<int>> orders;
    for (int i = 0; i < ranks; ++i) {
        orders.emplace_back(static_cast<std::size_t>(ranks));
        std::iota(orders.back().begin(), orders.back().end(), 0);
        std::rotate(orders.back().begin(), orders.back().begin() + i, orders.back().end());
    }
    const auto turn = [&] {
        for (const std::vector<int>& order : orders)
            compositor.composite(std::span<const RgbaF32>(image), {.order = order});
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

} // namespace sextant::test
