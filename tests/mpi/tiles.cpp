// SPDX-License-Identifier: BSD-3-Clause
// Filters, edges, contours and components of images in tiles and strips over MPI, in groups of 1,
// 2, 3, 4 and 7 ranks.
#include "tests/mpi/groups.hpp"
#include "tests/support/canny_runs.hpp"
#include "tests/support/component_runs.hpp"
#include "tests/support/filter_runs.hpp"
#include "tests/support/tracing_runs.hpp"

namespace sextant::test {
namespace {

template <class Run>
void on_every_group(Run&& run) {
    for (const int size : group_sizes)
        on_group(size, run);
}

TEST(Mpi, derivatives_have_the_same_bits_on_every_grid) {
    on_every_group(filters_to_the_same_bits_on_every_grid);
}

TEST(Mpi, filtering_has_the_same_bits_in_memory_and_in_windows) {
    on_every_group(filtering_gives_the_same_bits);
}

TEST(Mpi, edges_equal_those_of_the_whole_image) {
    on_every_group([](Communicator communicator) {
        every_pattern_gives_the_serial_edges(communicator, {37, 29}, 13);
    });
}

TEST(Mpi, contours_equal_the_serial_traversal) {
    on_every_group([](Communicator communicator) {
        every_pattern_gives_the_serial_contours(communicator, {37, 29}, 9);
        every_map_gives_the_serial_lines(communicator, {13, 11}, 15);
    });
}

TEST(Mpi, contours_are_the_same_in_memory_and_in_strips) {
    on_every_group([](Communicator communicator) {
        tracing_gives_the_serial_contours(communicator, {23, 31}, "./", 7);
    });
}

TEST(Mpi, components_equal_those_of_the_whole_image) {
    on_every_group([](Communicator communicator) {
        every_pattern_gives_the_serial_labels(communicator, {17, 13}, 61);
        labelling_gives_the_serial_labels(communicator, blobs({19, 13}, 3, 4));
    });
}

} // namespace
} // namespace sextant::test
