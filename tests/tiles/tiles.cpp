// SPDX-License-Identifier: BSD-3-Clause
// Images in tiles: exchange of lists of any length, and numbering of items across tiles.
#include "sextant/comm/threads.hpp"
#include "sextant/core/error.hpp"
#include "sextant/tiles/list_exchange.hpp"
#include "sextant/tiles/numbering.hpp"
#include "sextant/tiles/tiled_image.hpp"

#include <gmock/gmock.h>

namespace sextant::test {
namespace {

/// The list that rank `from` sends to rank `to`; some are empty.
std::vector<int> gift(int from, int to) {
    return std::vector<int>(static_cast<std::size_t>((from + 2 * to) % 4), 100 * from + to);
}

TEST(ListExchange, delivers_every_list_to_its_rank) {
    for (int ranks = 1; ranks <= 6; ++ranks) {
        run_threads(ranks, [ranks](Communicator communicator) {
            std::vector<std::vector<int>> to;
            std::vector<int> expected;
            for (int peer = 0; peer < ranks; ++peer) {
                to.push_back(gift(communicator.rank(), peer));
                for (const int value : gift(peer, communicator.rank()))
                    expected.push_back(value);
            }
            EXPECT_EQ(all_to_all_lists(communicator, to).values, expected);
        });
    }
}

TEST(ListExchange, delivers_every_list_on_many_ranks) {
    for (const int ranks : {17, 23, 40}) {
        run_threads(ranks, [ranks](Communicator communicator) {
            std::vector<std::vector<int>> to;
            std::vector<int> expected;
            std::vector<Elements> counts;
            for (int peer = 0; peer < ranks; ++peer) {
                to.push_back(gift(communicator.rank(), peer));
                const std::vector<int> theirs = gift(peer, communicator.rank());
                expected.insert(expected.end(), theirs.begin(), theirs.end());
                counts.push_back(static_cast<Elements>(theirs.size()));
            }
            const ByRank<int> got = all_to_all_lists(communicator, to);
            EXPECT_EQ(got.counts, counts);
            EXPECT_EQ(got.values, expected);
        });
    }
}

TEST(ListExchange, gathers_short_and_long_lists_on_all_ranks) {
    for (const int length : {1, 5000}) {
        run_threads(5, [length](Communicator communicator) {
            const auto list_of = [&](int rank) {
                return std::vector<int>(static_cast<std::size_t>(rank % 3 * length), 10 * rank);
            };
            ByRank<int> expected;
            for (int rank = 0; rank < 5; ++rank) {
                const std::vector<int> list = list_of(rank);
                expected.counts.push_back(std::ssize(list));
                expected.values.insert(expected.values.end(), list.begin(), list.end());
            }
            const ByRank<int> all = all_gather_by_rank(communicator, list_of(communicator.rank()));
            EXPECT_EQ(all.counts, expected.counts);
            EXPECT_EQ(all.values, expected.values);
        });
    }
}

TEST(ListExchange, gathers_lists_on_rank_0) {
    run_threads(5, [](Communicator communicator) {
        const ByRank<int> all = gather_lists(communicator, gift(communicator.rank(), 0));
        const bool root = communicator.rank() == 0;
        EXPECT_EQ(all.counts,
                  root ? (std::vector<Elements>{0, 1, 2, 3, 0}) : std::vector<Elements>(5, 0));
        EXPECT_EQ(all.values,
                  root ? (std::vector<int>{100, 200, 200, 300, 300, 300}) : std::vector<int>());
        EXPECT_EQ(sum_over_ranks(communicator, communicator.rank()), 10);
    });
}

TEST(ListExchange, of_empty_lists_gives_empty_lists) {
    run_threads(3, [](Communicator communicator) {
        EXPECT_TRUE(all_to_all_lists<int>(communicator, {{}, {}, {}}).values.empty());
        EXPECT_TRUE(all_gather_by_rank<int>(communicator, {}).values.empty());
    });
}

TEST(Numbering, numbers_items_in_pixel_order_across_tiles_and_sums_their_weights) {
    // Items at pixels 1, 3 and 6 of an image of 4x2 pixels, in two columns of tiles. Both ranks
    // contribute to the item at pixel 6.
    run_threads(2, [](Communicator communicator) {
        const bool left = communicator.rank() == 0;
        const std::vector<Share> shares =
            left ? std::vector<Share>{{6, 10}, {1, 5}, {6, 1}} : std::vector<Share>{{3, 2}, {6, 4}};
        const Numbering made = number_by_pixels(communicator, {4, 2, 2, 1}, shares);
        EXPECT_EQ(made.count, 3);
        EXPECT_EQ(made.weight, 22);
        const Standing first{0, 0, 5}, second{1, 5, 2}, third{2, 7, 15};
        const std::vector<Standing> expected = left ? std::vector<Standing>{third, first, third}
                                                    : std::vector<Standing>{second, third};
        EXPECT_EQ(made.standings, expected);
    });
}

TEST(DistributedImage, with_too_many_pixels_is_refused) {
    run_threads(1, [](Communicator communicator) {
        const Elements many = Elements{1} << 32;
        for (const Grid& grid : {Grid{many, many, 1, 1}, {-1, 4, 1, 1}, {4, -many, 1, 1}})
            EXPECT_THROW(distributed::Image(communicator, grid, gray_f32), InvalidTask);
    });
}

} // namespace
} // namespace sextant::test
