// SPDX-License-Identifier: BSD-3-Clause
// Components and edges with every pattern on every grid; the short tests cover a selection.
#include "sextant/comm/threads.hpp"

#include "tests/support/canny_runs.hpp"
#include "tests/support/component_runs.hpp"
#include "tests/support/line_runs.hpp"

namespace sextant::test {
namespace {

TEST(EveryPattern, gives_the_contours_of_serial_tracing_on_1_to_16_ranks) {
    for (int ranks = 1; ranks <= 16; ++ranks)
        run_threads(ranks, [](Communicator communicator) {
            every_pattern_gives_the_serial_contours(communicator, {23, 19});
        });
}

TEST(EveryGrid, gives_the_contour_lines_of_serial_tracing) {
    for (const int ranks : {1, 2, 5, 6, 9})
        run_threads(ranks, [](Communicator communicator) {
            every_map_gives_the_serial_lines(communicator, {13, 11});
        });
}

TEST(EveryPattern, gives_the_components_of_serial_labelling) {
    for (const int ranks : {3, 8})
        run_threads(ranks, [](Communicator communicator) {
            every_pattern_gives_the_serial_labels(communicator, {17, 13});
        });
}

TEST(EveryPattern, gives_the_edges_of_serial_detection_on_1_to_16_ranks) {
    for (int ranks = 1; ranks <= 16; ++ranks)
        run_threads(ranks, [](Communicator communicator) {
            every_pattern_gives_the_serial_edges(communicator, {17, 13});
        });
}

} // namespace
} // namespace sextant::test
