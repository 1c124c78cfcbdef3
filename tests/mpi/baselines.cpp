// SPDX-License-Identifier: BSD-3-Clause
// MPI's operations with Sextant's kernels give the same images: a benchmark checks each of them
// against a serial fold before it is timed.
#include "sextant/lab/bench_composite.hpp"
#include "sextant/lab/mpi_baselines.hpp"

#include "tests/mpi/groups.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

void race(const Communicator& communicator, const char* blend, const char* element, bool collect) {
    lab::CompositeCase what;
    what.shape = {23, 7};
    what.blend = blend;
    what.element = element;
    what.collect = collect;
    lab::ContestOptions options;
    options.rounds = 3;
    options.least_turn = 0;
    const auto results = lab::bench_composite(communicator, what, options);
    std::size_t baselines = 0;
    for (const auto& result : results.results)
        baselines += result.baseline;
    // MPI_Reduce cannot leave parts of the result on the ranks.
    EXPECT_EQ(baselines, lab::mpi_baselines(communicator).size() - (collect ? 0 : 1));
}

/// Groups are small, because MPI's blocking calls poll, which is slow if ranks outnumber cores.
TEST(Baselines, equal_the_serial_fold) {
    for (const int size : {1, 2, 3, 4}) {
        on_group(size, [](const Communicator& communicator) {
            for (const bool collect : {false, true}) {
                race(communicator, "over", "f32", collect);
                race(communicator, "over", "u8", collect);
                race(communicator, "nearest", "f32", collect);
                race(communicator, "max", "f16", collect);
            }
        });
    }
}

} // namespace
} // namespace sextant::test
