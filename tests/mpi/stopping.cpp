// SPDX-License-Identifier: BSD-3-Clause
// Notices that stop an operation reach all ranks; those of earlier operations are ignored.
#include "sextant/comm/mpi.hpp"
#include "sextant/comm/waiting.hpp"

#include <chrono>
#include <string>
#include <thread>

#include "tests/mpi/groups.hpp"
#include "tests/support/time_limit.hpp"
#include <gtest/gtest.h>
#include <mpi.h>

namespace sextant {
namespace {

using namespace std::chrono_literals;

bool comes(StopNotices& notices, std::chrono::milliseconds limit) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!notices.received()) {
        if (std::chrono::steady_clock::now() > end)
            return false;
        std::this_thread::sleep_for(1ms);
    }
    return true;
}

class Stopping : public ::testing::Test {
  protected:
    void SetUp() override { MPI_Comm_rank(MPI_COMM_WORLD, &rank); }
    int rank = 0;
    const Communicator world = from_mpi(MPI_COMM_WORLD);
};

TEST_F(Stopping, a_notice_reaches_all_ranks) {
    StopNotices notices(MPI_COMM_WORLD);
    if (rank == world.size() - 1)
        notices.send();
    EXPECT_TRUE(comes(notices, 120s));
    world.barrier();
}

TEST_F(Stopping, a_notice_brings_its_reason_for_one_operation) {
    for (const std::string text : {std::string("no memory"), std::string(5000, 'x')}) {
        StopNotices notices(MPI_COMM_WORLD);
        EXPECT_EQ(notices.reason(), "");
        if (rank == 1)
            notices.send(text);
        EXPECT_TRUE(comes(notices, 120s));
        EXPECT_EQ(notices.reason(), rank == 1 ? "" : "rank 1: " + text.substr(0, 2000));
        world.barrier();
    }
}

TEST_F(Stopping, a_notice_ends_one_operation_only) {
    for (int operation = 0; operation < 5; ++operation) {
        StopNotices notices(MPI_COMM_WORLD);
        if (operation == 2 && rank == 0)
            notices.send(); // and no rank receives it
        world.barrier();
        if (operation == 3) {
            EXPECT_FALSE(comes(notices, 20ms));
        }
        world.barrier();
    }
}

// A rank may stop the next operation while others have not ended this one.
TEST_F(Stopping, a_notice_of_the_next_operation_waits) {
    const bool is_ahead = rank == 0;
    StopNotices first(MPI_COMM_WORLD);
    if (is_ahead) {
        StopNotices second(MPI_COMM_WORLD);
        second.send();
        world.barrier();
        EXPECT_TRUE(second.received());
        return;
    }
    EXPECT_FALSE(comes(first, 50ms));
    StopNotices second(MPI_COMM_WORLD);
    EXPECT_TRUE(comes(second, 120s));
    world.barrier();
}

/// Receives an empty message from any rank; returns false if none has arrived.
bool receive_empty_message() {
    int arrived = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &arrived, &status);
    if (arrived)
        MPI_Recv(nullptr, 0, MPI_BYTE, status.MPI_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return arrived != 0;
}

TEST_F(Stopping, a_function_is_called_while_a_rank_waits) {
    int calls = 0;
    {
        const WhileWaiting outer([&] {
            if (++calls == 1 && rank != 0)
                MPI_Send(nullptr, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        });
        {
            const WhileWaiting inner([] {});
        }
        // The other ranks wait in the barrier until the function of each has been called.
        if (rank == 0) {
            int received = 0;
            test::TimeLimit().wait_until([&] {
                received += receive_empty_message();
                return received == world.size() - 1;
            });
        }
        world.barrier();
    }
    if (rank != 0) {
        EXPECT_GT(calls, 0);
    }
    const int before = calls;
    if (rank == 0)
        std::this_thread::sleep_for(20ms);
    world.barrier();
    EXPECT_EQ(calls, before);
}

} // namespace
} // namespace sextant
