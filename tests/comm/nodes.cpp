// SPDX-License-Identifier: BSD-3-Clause
// Ranks that share memory in segments, like the processes of a node; here ranks are threads, so
// that sanitizers can check them.
#include "sextant/comm/communicator.hpp"
#include "sextant/comm/shared_memory.hpp"
#include "sextant/comm/threads.hpp"
#include "sextant/core/error.hpp"

#include <filesystem>

#include "tests/support/node_runs.hpp"
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace sextant::test {
namespace {

const bool nodes_added = add_cases("Nodes", node_cases(), on_threads);

TEST(Nodes, have_the_requested_size) {
    run_threads(7, [](Communicator communicator) {
        const auto nodes = [&](int size) {
            return nodes_of(share_nodes(communicator, {size, Bytes{1} << 20}).communicator);
        };
        EXPECT_THAT(nodes(0), testing::Each(0));
        EXPECT_THAT(nodes(3), testing::ElementsAre(0, 0, 0, 1, 1, 1, 2));
        EXPECT_THAT(nodes(1), testing::ElementsAre(0, 1, 2, 3, 4, 5, 6));
    });
}

TEST(Nodes, split_groups_share_memory) {
    run_threads(5, [](Communicator communicator) {
        const Communicator shared = share_nodes(communicator, {2, Bytes{4} << 20}).communicator;
        const Communicator half = shared.split(shared.rank() % 2, 0);
        EXPECT_TRUE(half.shares_nodes());
        const auto task = compositing::one_image_each(half.size(), 5000, 0);
        const auto& row = compositing::find("direct-send");
        const auto part = composite(half, row, task, {}, Association::in_order, 3);
        const auto whole = serial_composite(half.size(), task.elements);
        EXPECT_EQ(difference(part, expected_part(row, task, {}, half.rank(), whole)), 0);
        const Communicator none = shared.split(shared.rank() == 0 ? 0 : -1, 0);
        EXPECT_EQ(none.valid(), shared.rank() == 0);
    });
}

TEST(Nodes, messages_are_used_if_shared_memory_is_unavailable) {
    run_threads(3, [](Communicator communicator) {
        for (const Bytes most : {Bytes{1}, Bytes{100000}, Bytes{300000}}) {
            // Rank 2 gets all the memory it requests, the other ranks only a part of it or none.
            const bool plenty = communicator.rank() == 2;
            const Communicator shared =
                share_nodes(communicator, {0, plenty ? Bytes{8} << 20 : most}).communicator;
            expect_bits_of_messages(communicator, shared, compositing::one_image_each(3, 20011, 1));
            EXPECT_EQ(shared.shortage().empty(), plenty);
            if (!plenty) {
                EXPECT_THAT(shared.shortage(),
                            testing::StartsWith("rank " + std::to_string(shared.rank())));
            }
        }
    });
}

TEST(Nodes, all_ranks_use_messages_if_one_has_no_shared_memory) {
    run_threads(3, [](Communicator communicator) {
        const bool odd = communicator.rank() == 1;
        const SharedNodes nodes =
            share_nodes(communicator, {0, odd ? Bytes{1} << 62 : Bytes{1} << 20});
        EXPECT_THAT(nodes.why_not, testing::StartsWith("rank 1: "));
        EXPECT_TRUE(nodes.communicator.shares_memory()) << "the given communicator";
        nodes.communicator.barrier();
    });
}

/// Limits the size of files that this process writes, during the object's lifetime.
class FileLimit {
  public:
    explicit FileLimit(rlim_t bytes) {
        getrlimit(RLIMIT_FSIZE, &was_);
        const rlimit now{bytes, was_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &now);
    }
    ~FileLimit() { setrlimit(RLIMIT_FSIZE, &was_); }

  private:
    rlimit was_{};
};

TEST(Nodes, a_file_size_limit_is_reported_and_raises_no_signal) {
    const FileLimit limit(1 << 20);
    run_threads(2, [](Communicator communicator) {
        const SharedNodes nodes = share_nodes(communicator, {0, Bytes{8} << 20});
        EXPECT_THAT(nodes.why_not, testing::AllOf(testing::StartsWith("rank 0: "),
                                                  testing::HasSubstr("RLIMIT_FSIZE")));
        EXPECT_TRUE(nodes.communicator.shares_memory()) << "the given communicator";
    });
}

TEST(Nodes, segments_have_no_name_in_the_file_system) {
    const Segment segment = Segment::create(1 << 20);
    const auto path =
        std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(segment.descriptor()));
    EXPECT_THAT(path.string(), testing::EndsWith("(deleted)"));
}

TEST(Nodes, opening_an_unknown_segment_fails) {
    EXPECT_THROW(Segment::open(getpid(), 1 << 20, 1 << 20), CommunicationFailed);
}

TEST(Arenas, give_disjoint_blocks_and_zero_reused_memory) {
    const auto arena = std::make_shared<Arena>(Segment::create(Bytes{4} << 20), 100);
    std::optional<Memory> a = arena->take(5000), b = arena->take(4096), c = arena->take(1);
    ASSERT_TRUE(a && b && c);
    EXPECT_GE(b->data(), a->data() + a->size());
    EXPECT_GE(a->data(), arena->segment().data() + 100);
    std::fill_n(b->data(), b->size(), std::byte{7});
    const std::byte* const was = b->data();
    b.reset();
    b = arena->take(4000);
    EXPECT_EQ(b->data(), was);
    EXPECT_THAT(b->bytes(), testing::Each(std::byte{0}));
    EXPECT_FALSE(arena->take(Bytes{4} << 20));
    a.reset(), c.reset(), b.reset();
    EXPECT_TRUE(arena->take((Bytes{2} << 20) - 8192)) << "free blocks are merged";
    EXPECT_TRUE(arena->take(0));
}

/// Simulates a file system with 1 MB of free space, where touching more memory would kill the
/// process.
TEST(Arenas, refuse_memory_that_the_system_cannot_provide) {
    constexpr Bytes there = Bytes{1} << 20, promised = Bytes{2} << 20;
    const int file = memfd_create("full", 0);
    ASSERT_EQ(ftruncate(file, there), 0);
    auto* const data = static_cast<std::byte*>(
        mmap(nullptr, promised, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    if (madvise(data, there, MADV_POPULATE_WRITE) != 0)
        GTEST_SKIP() << "this Linux does not support the query";
    auto arena = std::make_shared<Arena>(Segment::kept(data, promised, Segment::Whose::a_peers), 0);
    EXPECT_FALSE(arena->take(there + 1));
    std::optional<Memory> fits = arena->take(there);
    ASSERT_TRUE(fits);
    fits->data()[there - 1] = std::byte{1};
    EXPECT_FALSE(arena->take(1));
    fits.reset();
    arena.reset();
    munmap(data, promised);
    close(file);
}

TEST(Arenas, stay_mapped_while_their_memory_is_in_use) {
    auto arena = std::make_shared<Arena>(Segment::create(1 << 20), 0);
    std::optional<Memory> memory = arena->take(10);
    arena.reset();
    memory->data()[9] = std::byte{1};
    EXPECT_EQ(memory->data()[9], std::byte{1});
}

} // namespace
} // namespace sextant::test
