// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/node_sharing.hpp"
#include "sextant/comm/threads.hpp"

#include "tests/support/deep_cases.hpp"
#include "tests/support/order_cases.hpp"
#include "tests/support/wall_cases.hpp"

namespace sextant::test {
namespace {

const bool orders_added =
    add_cases("ChangingOrderOnThreads", order_cases(), on_threads) &&
    add_cases("ChangingOrderOnNodes", order_cases(), on_nodes) &&
    add_cases("ChangingOrderOnThreads", {GROUP_CASE(a_change_on_only_some_ranks_is_reported)},
              on_threads) &&
    add_cases("ChangingOrderOnNodes", {GROUP_CASE(a_change_on_only_some_ranks_is_reported, {3})},
              on_nodes);

void turning_on_threads(void (*body)(const Communicator&)) {
    for (const int ranks : {1, 2, 3, 4, 7})
        run_threads(ranks, body);
}

TEST(ChangingOrderOnThreads, deep_images_of_equal_depths_follow_the_new_order) {
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

TEST(ChangingOrderOnThreads, tiles_of_a_wall_follow_the_new_order) {
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
