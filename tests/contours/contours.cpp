// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/threads.hpp"
#include "sextant/contours/contour_merging.hpp"

#include "tests/support/line_runs.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

TEST(DistributedContours, equal_the_serial_traversal_for_every_edge_map) {
    for (int ranks = 1; ranks <= 16; ++ranks)
        run_threads(ranks, [](Communicator communicator) {
            every_pattern_gives_the_serial_contours(communicator, {37, 29}, 13);
        });
}

TEST(DistributedContours, equal_the_serial_traversal_for_tiny_or_empty_tiles) {
    for (const int ranks : {6, 7, 12}) {
        for (const ImageShape image : {ImageShape{5, 4}, {1, 6}, {3, 1}, {2, 2}})
            run_threads(ranks, [image](Communicator communicator) {
                every_pattern_gives_the_serial_contours(communicator, image, 11);
            });
    }
}

TEST(LinearRepresentations, equal_the_serial_traversal_on_every_grid) {
    for (const int ranks : {1, 2, 6})
        run_threads(ranks, [](Communicator communicator) {
            every_map_gives_the_serial_lines(communicator, {13, 11}, 5);
        });
}

TEST(LinearRepresentations, may_have_fewer_points_than_ranks) {
    run_threads(6, [](Communicator communicator) {
        every_map_gives_the_serial_lines(communicator, {2, 2}, 5);
    });
}

TEST(DistributedContours, refuse_a_grid_with_a_wrong_number_of_tiles_on_every_rank) {
    run_threads(3, [](Communicator communicator) {
        kernel::ContourRanking ranking;
        EXPECT_THAT(
            ([&] {
                merge_contours(communicator, {9, 9, 2, 1}, ranking, contour::catalogue()[0]);
            }),
            testing::ThrowsMessage<AgreedFailure>(testing::HasSubstr("2x1 tiles on 3 ranks")));
    });
}

} // namespace
} // namespace sextant::test
