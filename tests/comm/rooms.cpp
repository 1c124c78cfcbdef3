// SPDX-License-Identifier: BSD-3-Clause
// Where memory is shared, what a rank blends for another is made right where that one wants it.
#include "sextant/comm/threads.hpp"

#include "tests/support/blending.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

/// `over` that notes where it was made last.
Operator over_noting(const std::byte*& made) {
    Operator op = kernel::find("over");
    op.fold = [fold = op.fold, &made](std::span<const std::byte* const> operands, std::byte* to,
                                      Elements count) {
        made = to;
        fold(operands, to, count);
    };
    return op;
}

bool lies_in(const std::byte* at, std::span<const std::byte> memory) {
    return at >= memory.data() && at < memory.data() + memory.size();
}

TEST(Rooms, ACollectedPictureIsMadeInTheRootsMemory) {
    for (const char* algorithm : {"direct-send", "radix-k", "binary-swap", "shift-based"}) {
        constexpr int ranks = 4, root = 2;
        const compositing::Task task = compositing::one_image_each(ranks, 4 * 1024, root);
        const auto& row = compositing::find(algorithm);
        const std::byte* made[ranks] = {};
        std::span<const std::byte> picture;
        run_threads(ranks, [&](Communicator communicator) {
            const int rank = communicator.rank();
            Execution execution(communicator,
                                compositing::program(row, task, row.tunings(ranks).front(), rank),
                                over_noting(made[rank]));
            const auto image = layers(rank, 1, task.elements);
            execution.bind(0, std::as_bytes(std::span(image)));
            for (int frame = 0; frame < 3; ++frame) {
                communicator.barrier();
                execution.run();
            }
            if (rank == root)
                picture = execution.result();
            communicator.barrier();
            EXPECT_TRUE(lies_in(made[rank], picture)) << algorithm << " rank " << rank;
            communicator.barrier();
        });
    }
}

TEST(Rooms, AResultStaysAsItIsUntilItsOwnerRunsAgain) {
    constexpr int ranks = 3;
    const compositing::Task task = compositing::one_image_each(ranks, 3 * 1024, 0);
    const auto& row = compositing::find("direct-send");
    run_threads(ranks, [&](Communicator communicator) {
        const int rank = communicator.rank();
        Execution execution(communicator, compositing::program(row, task, {}, rank),
                            kernel::find("over"));
        std::vector<RgbaF32> image(static_cast<std::size_t>(task.elements));
        execution.bind(0, std::as_bytes(std::span(image)));
        for (int frame = 0; frame < 50; ++frame) {
            // The others go on to the next frame while the root reads this one.
            std::fill(image.begin(), image.end(), RgbaF32{1.0f * frame, 0, 0, 1});
            execution.run();
            for (const std::byte* at = execution.result().data();
                 at < execution.result().data() + execution.result().size(); at += 16)
                ASSERT_EQ(*reinterpret_cast<const float*>(at), 1.0f * frame);
        }
    });
}

} // namespace
} // namespace sextant::test
