// SPDX-License-Identifier: BSD-3-Clause
// After the first two frames, Sextant allocates nothing for a frame, over MPI. (MPI itself may
// allocate.)
#include "sextant/collectives/collective.hpp"
#include "sextant/comm/mpi.hpp"
#include "sextant/compositor/frames_in_flight.hpp"

#include "tests/support/blending.hpp"
#include "tests/support/counting_new.hpp"
#include "tests/support/order_cases.hpp"
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

TEST(Mpi, nothing_is_allocated_after_the_second_frame) {
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

TEST(Mpi, nothing_is_allocated_after_the_first_run_of_a_collective) {
    const Communicator communicator = from_mpi(MPI_COMM_WORLD);
    const auto add = element_operator<double>("sum", [](double a, double b) { return a + b; });
    for (const CollectiveKind kind :
         {CollectiveKind::broadcast, CollectiveKind::gather, CollectiveKind::all_to_all,
          CollectiveKind::all_reduce, CollectiveKind::scan}) {
        for (const std::string_view algorithm : algorithms_of(kind)) {
            if (algorithm == "binary-swap")
                continue; // binary-swap does not support seven ranks
            Collective collective(communicator, {kind, {3001}, sizeof(double), add},
                                  {.algorithm = std::string(algorithm)});
            const std::vector<double> send(static_cast<std::size_t>(collective.send_count()));
            std::vector<double> receive(static_cast<std::size_t>(collective.receive_count()));
            collective.run<double>(send, receive);
            const long before = allocations.load();
            for (int i = 0; i < 5; ++i)
                collective.run<double>(send, receive);
            EXPECT_EQ(allocations.load() - before, 0) << name(kind) << " by " << algorithm;
        }
    }
}

TEST(Mpi, nothing_is_allocated_after_frames_in_flight_were_used_twice) {
    const Communicator communicator = from_mpi(MPI_COMM_WORLD);
    const ImageShape shape{201, 199};
    const auto first = layers(communicator.rank(), 1, shape.elements());
    const auto second = layers(communicator.rank() + 50, 1, shape.elements());
    CompositeOptions options;
    options.algorithm = "direct-send";
    FramesInFlight frames(communicator, shape, 1, 2, options);
    const auto turn = [&] { // images change slots between frames
        PendingFrame a = frames.start(std::span<const RgbaF32>(first));
        PendingFrame b = frames.start(std::span<const RgbaF32>(second));
        a.wait();
        PendingFrame c = frames.start(std::span<const RgbaF32>(second));
        c.wait();
        b.wait();
    };
    for (int i = 0; i < 6; ++i)
        turn();
    const long before = allocations.load();
    for (int i = 0; i < 10; ++i)
        turn();
    EXPECT_EQ(allocations.load() - before, 0) << "rank " << communicator.rank();
}

TEST(Mpi, nothing_is_allocated_for_new_orders_after_each_position_was_used_twice) {
    const Communicator communicator = from_mpi(MPI_COMM_WORLD);
    for (const char* algorithm : {"direct-send", "radix-k", "binary-tree"}) {
        CompositeOptions options;
        options.algorithm = algorithm;
        EXPECT_EQ(
            allocations_of_turning_frames(communicator, options, [] { return allocations.load(); }),
            0)
            << algorithm << ", rank " << communicator.rank();
    }
}

} // namespace
} // namespace sextant::test
