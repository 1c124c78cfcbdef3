// SPDX-License-Identifier: BSD-3-Clause
// Processes that cannot create shared memory themselves, as in some sandboxes, use MPI's shared
// memory, or messages if that is not available; results are bitwise identical.
#include "sextant/core/error.hpp"

#include <cstddef>

#include "tests/mpi/groups.hpp"
#include "tests/support/node_runs.hpp"
#include <gmock/gmock.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mpi.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

namespace sextant::test {
namespace {

/// Makes memfd_create fail in this process. Returns false if the system has no system call filters.
bool forbid_segments() {
    sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{static_cast<unsigned short>(std::size(filter)), filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

class MpiWindows : public testing::Test {
  protected:
    /// Forbids shared memory segments on rank 0 only, which suffices.
    static void SetUpTestSuite() {
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        int refused = rank != 0 || forbid_segments(), everywhere = 0;
        MPI_Allreduce(&refused, &everywhere, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        forbidden = everywhere != 0;
    }
    void SetUp() override {
        if (!forbidden)
            GTEST_SKIP() << "no system calls can be forbidden here";
    }
    static inline bool forbidden = false;
};

TEST_F(MpiWindows, give_the_same_bits_as_messages) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        EXPECT_THROW(Segment::create(Bytes{1} << 20), CommunicationFailed);
    }
    for (const int size : {1, 2, 3, 4})
        on_group(size, shared_memory_gives_the_same_bits_as_messages);
}

TEST_F(MpiWindows, work_with_layers_and_empty_ranks) {
    on_group(4, shared_memory_works_with_layers_and_empty_ranks);
}

TEST_F(MpiWindows, are_replaced_by_messages_if_they_are_full) {
    on_group(3, [](const Communicator& communicator) {
        const Bytes most = communicator.rank() == 1 ? Bytes{8} << 20 : 100000;
        const Communicator shared = share_nodes(communicator, {0, most}).communicator;
        EXPECT_TRUE(shared.shares_nodes());
        expect_bits_of_messages(communicator, shared, compositing::one_image_each(3, 20011, 1));
        EXPECT_EQ(shared.shortage().empty(), communicator.rank() == 1);
    });
}

TEST_F(MpiWindows, provide_zeroed_memory_when_it_is_reused) {
    on_group(2, [](const Communicator& communicator) {
        for (int again = 0; again < 2; ++again) {
            const Communicator shared = share_nodes(communicator, {0, Bytes{4} << 20}).communicator;
            Memory memory = shared.memory(100000);
            EXPECT_THAT(memory.bytes(), testing::Each(std::byte{0}));
            std::fill_n(memory.data(), memory.size(), std::byte{7});
            memory = shared.memory(100000);
            memory = Memory();
            memory = shared.memory(200000);
            EXPECT_THAT(memory.bytes(), testing::Each(std::byte{0}));
        }
    });
}

TEST_F(MpiWindows, failures_are_reported_after_those_of_shared_memory) {
    on_group(3, [](const Communicator& communicator) {
        rlimit limit{};
        getrlimit(RLIMIT_FSIZE, &limit);
        const rlimit short_files{100000, limit.rlim_max};
        setrlimit(RLIMIT_FSIZE, &short_files);
        const SharedNodes nodes = share_nodes(communicator);
        setrlimit(RLIMIT_FSIZE, &limit);
        EXPECT_FALSE(nodes.communicator.shares_nodes());
        EXPECT_THAT(nodes.why_not, testing::MatchesRegex("rank 0: .*; rank 0: cannot allocate .*"));
        expect_bits_of_messages(communicator, nodes.communicator,
                                compositing::one_image_each(3, 997, 1));
    });
}

} // namespace
} // namespace sextant::test
