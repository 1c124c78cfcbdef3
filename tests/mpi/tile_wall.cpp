// SPDX-License-Identifier: BSD-3-Clause
#include "tests/mpi/groups.hpp"
#include "tests/support/wall_cases.hpp"

namespace sextant::test {
namespace {

void walls_in_every_group(void (*body)(const Communicator&)) {
    for (const int size : group_sizes)
        on_group(size, body);
}

TEST(TileWallOverMpi, TilesAreRightAtTheirOwners) {
    walls_in_every_group(tiles_come_out_right_at_their_owners);
}
TEST(TileWallOverMpi, OnlyDrawingRanksAndTheOwnerTakePart) {
    walls_in_every_group(only_those_who_draw_and_the_owner_take_part);
}
TEST(TileWallOverMpi, WrongBoundsAreDetected) {
    walls_in_every_group(bounds_that_lie_are_found_out);
}
TEST(TileWallOverMpi, OddWallsAreRefused) {
    walls_in_every_group(odd_walls_are_refused);
}

} // namespace
} // namespace sextant::test
