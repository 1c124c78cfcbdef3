// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/threads.hpp"

#include "tests/support/wall_cases.hpp"

namespace sextant::test {
namespace {

void walls_on_threads(void (*body)(const Communicator&)) {
    for (const int ranks : {1, 2, 3, 4, 7})
        run_threads(ranks, body);
}

TEST(TileWallOnThreads, OwnersReceiveTheRightTiles) {
    walls_on_threads(owners_receive_the_right_tiles);
}
TEST(TileWallOnThreads, OnlyRanksWithPixelsAndTheOwnerExchangeMessagesForATile) {
    walls_on_threads(only_ranks_with_pixels_and_the_owner_exchange_messages);
}
TEST(TileWallOnThreads, PixelsOutsideTheStatedBoundsAreDetected) {
    walls_on_threads(pixels_outside_the_stated_bounds_are_detected);
}
TEST(TileWallOnThreads, InvalidWallsAreRefused) {
    walls_on_threads(invalid_walls_are_refused);
}

} // namespace
} // namespace sextant::test
