// SPDX-License-Identifier: BSD-3-Clause
// What a frame costs in memory once the first two have been, over MPI: nothing of ours. (MPI itself
// allocates as it likes, with malloc.)
#include "sextant/comm/mpi.hpp"

#include "tests/support/blending.hpp"
#include "tests/support/counting_new.hpp"
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

TEST(Mpi, NothingIsAllocatedAfterTheSecondFrame) {
    const Communicator communicator = from_mpi(MPI_COMM_WORLD);
    const int ranks = communicator.size(), rank = communicator.rank();
    const compositing::Task task = compositing::one_image_each(ranks, 40001, 0);
    const auto image = layers(rank, 1, task.elements);
    for (const Association association : {Association::in_order, Association::by_arrival}) {
        for (const auto& algorithm : compositing::catalogue()) {
            if (algorithm.tunings(ranks).empty())
                continue;
            Execution execution(
                communicator,
                compositing::program(algorithm, task, algorithm.tunings(ranks).front(), rank),
                kernel::find("over"), {association, false});
            execution.bind(0, std::as_bytes(std::span(image)));
            for (int frame = 0; frame < 2; ++frame)
                execution.run();
            const long before = allocations.load();
            for (int frame = 0; frame < 10; ++frame)
                execution.run();
            EXPECT_EQ(allocations.load() - before, 0)
                << fmt::format("{} rank {} {}", algorithm.name, rank, name(association));
        }
    }
}

} // namespace
} // namespace sextant::test
