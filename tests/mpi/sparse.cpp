// SPDX-License-Identifier: BSD-3-Clause
#include "tests/mpi/groups.hpp"
#include "tests/support/sparse_frames.hpp"
#include "tests/support/sparse_runs.hpp"

namespace sextant::test {
namespace {

TEST(SparseMpi, EveryAlgorithmGivesTheSameBitsAsDenseMessages) {
    for (const int size : {2, 3, 7})
        on_group(size, every_algorithm_gives_the_same_bits);
}

TEST(SparseMpi, EveryOperatorGivesTheSameBitsAsDenseMessages) {
    on_group(3, every_operator_gives_the_same_bits);
}

TEST(SparseMpi, FoldingInArrivalOrderGivesTheSameNearestSamples) {
    on_group(7, folding_in_arrival_order_gives_the_same_nearest_samples);
}

TEST(SparseMpi, AnyLayersOrdersAndEmptyRanksGiveTheSameBitsAsDenseMessages) {
    on_group(7, layers_and_empty_ranks_give_the_same_bits);
}

TEST(SparseMpi, EmptyPixelsAreNotSent) {
    for (const int size : {2, 4, 7})
        on_group(size, empty_pixels_are_not_sent);
}

TEST(SparseMpi, FramesAreTheSameWithFewerBytesSent) {
    for (const int size : {2, 3, 7})
        on_group(size, frames_are_the_same_sparse_and_dense);
}

} // namespace
} // namespace sextant::test
