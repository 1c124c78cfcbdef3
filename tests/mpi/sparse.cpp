// SPDX-License-Identifier: BSD-3-Clause
#include "tests/mpi/groups.hpp"
#include "tests/support/sparse_frames.hpp"
#include "tests/support/sparse_runs.hpp"

namespace sextant::test {
namespace {

TEST(SparseMpi, EveryAlgorithmGivesTheBitsOfDenseMessages) {
    for (const int size : {2, 3, 7})
        on_group(size, every_algorithm_gives_the_same_bits);
}

TEST(SparseMpi, EveryOperatorGivesTheBitsOfDenseMessages) {
    on_group(3, every_operator_gives_the_same_bits);
}

TEST(SparseMpi, ByArrivalTheNearestIsTheSame) {
    on_group(7, by_arrival_the_nearest_is_the_same);
}

TEST(SparseMpi, LayersOrdersAndEmptyRanksGiveTheBitsOfDenseMessages) {
    on_group(7, layers_and_empty_ranks_give_the_same_bits);
}

TEST(SparseMpi, EmptyPixelsAreNotSent) {
    for (const int size : {2, 4, 7})
        on_group(size, what_was_not_drawn_is_not_sent);
}

TEST(SparseMpi, FramesAreTheSameAndFewerBytesAreSent) {
    for (const int size : {2, 3, 7})
        on_group(size, frames_are_the_same_sparse_and_dense);
}

} // namespace
} // namespace sextant::test
