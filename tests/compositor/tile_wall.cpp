// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/threads.hpp"

#include "tests/support/wall_cases.hpp"

namespace sextant::test {
namespace {

void walls_on_threads(void (*body)(const Communicator&)) {
    for (const int ranks : {1, 2, 3, 4, 7})
        run_threads(ranks, body);
}

TEST(TileWallOnThreads, TilesAreRightAtTheirOwners) {
    walls_on_threads(tiles_come_out_right_at_their_owners);
}
TEST(TileWallOnThreads, OnlyDrawingRanksAndTheOwnerTakePart) {
    walls_on_threads(only_those_who_draw_and_the_owner_take_part);
}
TEST(TileWallOnThreads, WrongBoundsAreDetected) {
    walls_on_threads(bounds_that_lie_are_found_out);
}
TEST(TileWallOnThreads, OddWallsAreRefused) {
    walls_on_threads(odd_walls_are_refused);
}

} // namespace
} // namespace sextant::test
