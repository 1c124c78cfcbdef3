// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/node_sharing.hpp"
#include "sextant/comm/threads.hpp"

#include "tests/support/deep_cases.hpp"
#include "tests/support/order_cases.hpp"
#include "tests/support/wall_cases.hpp"

namespace sextant::test {
namespace {

void turning_on_threads(void (*body)(const Communicator&)) {
    for (const int ranks : {1, 2, 3, 4, 7})
        run_threads(ranks, body);
}

/// Runs a test on nodes of two ranks, so that the neighbours on a node change with the order.
void turning_on_nodes(void (*body)(const Communicator&),
                      std::initializer_list<int> sizes = {2, 3, 4}) {
    for (const int ranks : sizes) {
        run_threads(ranks, [&](Communicator communicator) {
            body(share_nodes(communicator, {2, Bytes{64} << 20}).communicator);
        });
    }
}

TEST(ChangingOrderOnThreads, FramesEqualThoseOfACompositorCreatedForTheirOrder) {
    turning_on_threads(frames_equal_those_of_a_compositor_for_their_order);
}
TEST(ChangingOrderOnThreads, SparseInterlacedAndThreadedTuningsSupportChangingOrders) {
    turning_on_threads(tunings_support_changing_orders);
}
TEST(ChangingOrderOnThreads, AlgorithmRacesAllowChangingOrders) {
    turning_on_threads(races_allow_changing_orders);
}
TEST(ChangingOrderOnThreads, OrdersThatDifferBetweenRanksAreReportedOnAllRanks) {
    turning_on_threads(orders_that_differ_between_ranks_are_reported);
}
TEST(ChangingOrderOnThreads, AChangeOnOnlySomeRanksIsReportedOnAllRanks) {
    turning_on_threads(a_change_on_only_some_ranks_is_reported);
}
TEST(ChangingOrderOnThreads, RanksWithoutImagesMayPassAnyOrder) {
    turning_on_threads(ranks_without_images_may_pass_any_order);
}
TEST(ChangingOrderOnThreads, FramesInFlightMayHaveDifferentOrders) {
    turning_on_threads(frames_in_flight_may_have_different_orders);
}

TEST(ImageOrdersOnThreads, ImagesOfRanksMayInterleave) {
    turning_on_threads(images_of_ranks_may_interleave);
}
TEST(ImageOrdersOnThreads, InvalidOrdersAreReportedOnAllRanks) {
    turning_on_threads(invalid_image_orders_are_reported_on_all_ranks);
}
TEST(ImageOrdersOnNodes, ImagesOfRanksMayInterleave) {
    turning_on_nodes(images_of_ranks_may_interleave);
}
TEST(DrawnRectanglesOnThreads, PixelsOutsideAreNotRead) {
    turning_on_threads(pixels_outside_of_rectangles_are_not_read);
}
TEST(DrawnRectanglesOnThreads, BelongToTheirRanksInEveryOrder) {
    turning_on_threads(rectangles_belong_to_their_ranks_in_every_order);
}
TEST(DrawnRectanglesOnThreads, InvalidOnesKeepThePreviousOnes) {
    turning_on_threads(invalid_rectangles_keep_the_previous_ones);
}
TEST(DrawnRectanglesOnThreads, EveryOperatorTakesThem) {
    turning_on_threads(every_operator_takes_rectangles);
}
TEST(DrawnRectanglesOnNodes, PixelsOutsideAreNotRead) {
    turning_on_nodes(pixels_outside_of_rectangles_are_not_read);
}

TEST(ChangingOrderOnNodes, FramesEqualThoseOfACompositorCreatedForTheirOrder) {
    turning_on_nodes(frames_equal_those_of_a_compositor_for_their_order);
}
TEST(ChangingOrderOnNodes, SparseInterlacedAndThreadedTuningsSupportChangingOrders) {
    turning_on_nodes(tunings_support_changing_orders);
}
TEST(ChangingOrderOnNodes, AChangeOnOnlySomeRanksIsReportedOnAllRanks) {
    turning_on_nodes(a_change_on_only_some_ranks_is_reported, {2, 3});
}

TEST(ChangingOrderOnThreads, DeepImagesOfEqualDepthsFollowTheNewOrder) {
    turning_on_threads([](const Communicator& communicator) {
        const int ranks = communicator.size();
        const std::vector<DeepImage> images = all_shells(ranks);
        const DeepImage& own = images[static_cast<std::size_t>(communicator.rank())];
        const int fragments = most_fragments(communicator, few_shells.shape, {&own, 1});
        DeepCompositor compositor(communicator, few_shells.shape, 1, fragments);
        const RgbaF32 grey{.5f, .5f, .5f, 1};
        for (const std::vector<int>& order : changing_orders(ranks, 4)) {
            std::vector<DeepImage> in_order;
            for (const int rank : order)
                in_order.push_back(images[static_cast<std::size_t>(rank)]);
            std::vector<RgbaF32> expected = kernel::blend_sorted(in_order);
            for (RgbaF32& pixel : expected)
                pixel = kernel::over(pixel, grey);
            expect_piece_of(expected, compositor.composite({&own, 1}, {order, grey}), "deep");
        }
        if (ranks > 1) {
            EXPECT_THAT(what_is_thrown([&] {
                            compositor.composite(
                                {&own, 1},
                                {{}, communicator.rank() == 1 ? std::optional<RgbaF32>() : grey});
                        }),
                        testing::StartsWith("invalid: ranks request different frames: rank 0: "
                                            "background 0.5,0.5,0.5,1; rank 1: no background"));
        }
    });
}

TEST(ChangingOrderOnThreads, TilesOfAWallFollowTheNewOrder) {
    turning_on_threads([](const Communicator& communicator) {
        const int ranks = communicator.size(), rank = communicator.rank();
        const std::vector<WallTile> tiles = wall_tiles(ranks);
        CompositeOptions options;
        options.algorithm = "direct-send"; // the same association as the serial fold
        TileWall wall(communicator, tiles, wall_bounds(rank), options);
        const WallImages images = images_on_wall(tiles, rank);
        std::vector<std::span<const std::byte>> bytes;
        for (const auto& image : images)
            bytes.push_back(std::as_bytes(std::span(image)));
        std::vector<std::vector<int>> orders = changing_orders(ranks, 4);
        for (const std::vector<int>& order : orders)
            expect_wall(tiles, wall.composite(bytes, {.order = order}), rank, order);
        if (ranks < 2)
            return;
        std::vector<int> odd = orders.back();
        std::swap(odd.front(), odd.back());
        EXPECT_EQ(what_is_thrown(
                      [&] { wall.composite(bytes, {.order = rank == 1 ? odd : orders.back()}); }),
                  fmt::format("invalid: ranks request different frames: rank 0: visibility order "
                              "{}, no background; rank 1: visibility order {}, no background",
                              fmt::join(orders.back(), ","), fmt::join(odd, ",")));
        expect_wall(tiles, wall.composite(bytes, {.order = odd}), rank, odd);
    });
}

} // namespace
} // namespace sextant::test
