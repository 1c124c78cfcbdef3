// SPDX-License-Identifier: BSD-3-Clause
#include "tests/mpi/groups.hpp"
#include "tests/support/wall_cases.hpp"

namespace sextant::test {
namespace {

void walls_in_every_group(void (*body)(const Communicator&)) {
    for (const int size : group_sizes)
        on_group(size, body);
}

TEST(TileWallOverMpi, OwnersReceiveTheRightTiles) {
    walls_in_every_group(owners_receive_the_right_tiles);
}
TEST(TileWallOverMpi, OnlyRanksWithPixelsAndTheOwnerExchangeMessagesForATile) {
    walls_in_every_group(only_ranks_with_pixels_and_the_owner_exchange_messages);
}
TEST(TileWallOverMpi, PixelsOutsideTheStatedBoundsAreDetected) {
    walls_in_every_group(pixels_outside_the_stated_bounds_are_detected);
}
TEST(TileWallOverMpi, InvalidWallsAreRefused) {
    walls_in_every_group(invalid_walls_are_refused);
}

} // namespace
} // namespace sextant::test
