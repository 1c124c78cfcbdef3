// SPDX-License-Identifier: BSD-3-Clause
// In shared memory, a rank writes the pixels that it blends for another rank directly into that
// rank's buffer.
#include "sextant/comm/threads.hpp"
#include "sextant/schedule/builder.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "tests/support/blending.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

/// The operator `over`, which also records the destination of its last call.
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

TEST(ReceiveBuffers, gathered_images_are_written_directly_into_the_roots_memory) {
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

TEST(ReceiveBuffers, a_result_stays_unchanged_until_its_owner_runs_again) {
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
            // The other ranks start the next frame while the root reads this one.
            std::fill(image.begin(), image.end(), RgbaF32{1.0f * frame, 0, 0, 1});
            execution.run();
            for (const std::byte* at = execution.result().data();
                 at < execution.result().data() + execution.result().size(); at += 16)
                ASSERT_EQ(*reinterpret_cast<const float*>(at), 1.0f * frame);
        }
    });
}

/// Rows of an image on rank 0 that another rank computes.
struct Rows {
    Elements length, count;
    Elements stride; ///< distance between rows in the image
    Elements elements() const { return length * count; }
};

/// Rank 1 computes the rows with two kernels and sends them to rank 0. Rank 0 receives them in its
/// image, which a kernel writes first if `used_before`.
Program rows_for_rank_0(const Rows& rows, bool used_before, int rank) {
    ProgramBuilder builder;
    if (rank == 1) {
        const Region made = builder.scratch(rows.elements());
        const Elements upper = rows.count / 2;
        builder.compute(0, {}, {{made.buffer, 0, rows.length, rows.length, upper}});
        builder.compute(
            0, {},
            {{made.buffer, upper * rows.length, rows.length, rows.length, rows.count - upper}});
        builder.send(0, made);
        return builder.finish({});
    }
    const Region picture = builder.output(rows.stride * rows.count);
    if (used_before)
        builder.compute(0, {}, {picture});
    builder.receive(1, {picture.buffer, 0, rows.length, rows.stride, rows.count});
    return builder.finish(picture);
}

/// The destinations to which rank 1 wrote its rows in the last of several runs, and the resulting
/// image.
struct Made {
    std::vector<const std::byte*> at;
    std::span<const std::byte> picture;
    bool right = true;
};

/// A kernel whose first call writes 1 to its destination, the second 2, and so on.
Kernel counting(Made& made, int& value) {
    return [&](const Computation& computation) {
        const Blocks& place = computation.places[0];
        ++value;
        for (Elements run = 0; run < place.count; ++run) {
            auto* const to = reinterpret_cast<float*>(place.base + run * place.stride);
            std::fill_n(to, place.length / static_cast<Bytes>(sizeof(float)), float(value));
        }
        made.at.push_back(place.base);
    };
}

bool all(std::span<const std::byte> bytes, Elements first, Elements count, float value) {
    const auto* const from = reinterpret_cast<const float*>(bytes.data()) + first;
    return std::all_of(from, from + count, [&](float f) { return f == value; });
}

Made make_rows(const Rows& rows, bool used_before) {
    Operator floats;
    floats.element = {"f32", sizeof(float)};
    Made by_rank_1;
    run_threads(2, [&](Communicator communicator) {
        const int rank = communicator.rank();
        Made made;
        int value = 0;
        Execution execution(communicator, rows_for_rank_0(rows, used_before, rank), floats, {},
                            {counting(made, value)});
        for (int run = 0; run < 3; ++run) {
            communicator.barrier();
            made.at.clear();
            value = rank;
            execution.run();
            if (rank == 0)
                by_rank_1.picture = execution.result();
            communicator.barrier();
            for (Elements row = 0; rank == 0 && row < rows.count; ++row)
                by_rank_1.right = by_rank_1.right && all(by_rank_1.picture, row * rows.stride,
                                                         rows.length, row < rows.count / 2 ? 2 : 3);
            if (rank == 1)
                by_rank_1.at = made.at;
            communicator.barrier();
        }
    });
    return by_rank_1;
}

TEST(ReceiveBuffers, kernel_results_are_written_directly_into_the_receivers_memory) {
    // Contiguous rows, and rows of a tile that has another tile next to it.
    for (const Rows& rows : {Rows{300, 200, 300}, Rows{300, 200, 700}}) {
        const Made made = make_rows(rows, false);
        EXPECT_TRUE(made.right);
        ASSERT_EQ(made.at.size(), 2u);
        EXPECT_EQ(made.at[0], made.picture.data());
        EXPECT_EQ(made.at[1], made.picture.data() + rows.count / 2 * rows.stride * 4);
    }
}

TEST(ReceiveBuffers, kernel_results_are_copied_if_their_destination_is_in_use) {
    const Made made = make_rows({300, 200, 700}, true);
    EXPECT_TRUE(made.right);
    ASSERT_EQ(made.at.size(), 2u);
    for (const std::byte* at : made.at)
        EXPECT_FALSE(lies_in(at, made.picture));
}

TEST(ReceiveBuffers, small_kernel_results_arrive_correctly) {
    for (const Rows& rows : {Rows{3, 2, 3}, Rows{3, 2, 7}, Rows{50, 30, 60}})
        EXPECT_TRUE(make_rows(rows, false).right);
}

TEST(ReceiveBuffers, a_failed_or_late_receiver_does_not_block_kernels) {
    const Rows rows{300, 200, 300};
    Operator floats;
    floats.element = {"f32", sizeof(float)};
    run_threads(2, [&](Communicator communicator) {
        const int rank = communicator.rank();
        Made made;
        int value = 0;
        Execution execution(communicator, rows_for_rank_0(rows, false, rank), floats, {},
                            {counting(made, value)});
        if (rank == 0)
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        if (rank == 0) {
            EXPECT_THROW(execution.run_failed(std::make_exception_ptr(std::runtime_error("no"))),
                         std::runtime_error);
        } else {
            execution.run();
        }
        communicator.barrier();
        execution.run();
        if (rank == 0) {
            EXPECT_TRUE(all(execution.result(), 0, rows.elements() / 2, 3));
            EXPECT_TRUE(all(execution.result(), rows.elements() / 2, rows.elements() / 2, 4));
        }
        communicator.barrier();
    });
}

} // namespace
} // namespace sextant::test
