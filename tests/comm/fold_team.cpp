// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/thread_team.hpp"
#include "sextant/comm/threads.hpp"
#include "sextant/core/memory.hpp"

#include <atomic>
#include <stdexcept>
#include <thread>

#include "tests/support/blending.hpp"
#include "tests/support/time_limit.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

/// A fold of three operands of arbitrary finite values, by a team of `threads`.
std::vector<std::byte> folded(const Operator& op, int threads, Elements elements) {
    std::vector<Memory> operands;
    std::vector<const std::byte*> sources;
    for (int k = 0; k < 3; ++k) {
        operands.emplace_back(elements * op.element.size);
        const auto words = std::span(reinterpret_cast<std::uint16_t*>(operands.back().data()),
                                     static_cast<std::size_t>(operands.back().size() / 2));
        for (std::size_t i = 0; i < words.size(); ++i)
            words[i] = static_cast<std::uint16_t>(
                0x3000 + (i * 7919 + static_cast<unsigned>(k) * 31) % 0x0c00);
        sources.push_back(operands.back().data());
    }
    std::vector<std::byte> to(static_cast<std::size_t>(elements * op.element.size));
    FoldTeam team(threads);
    const Operator shared = folded_by(team, op);
    for (int again = 0; again < 3; ++again)
        shared.fold(sources, to.data(), elements);
    return to;
}

TEST(FoldTeam, gives_the_same_bits_as_one_thread) {
    for (const kernel::Family& family : kernel::catalogue()) {
        for (const Operator& op : family.operators) {
            for (const Elements elements : {1, 4099, 50021}) {
                const auto alone = folded(op, 1, elements);
                for (const int threads : {2, 3, 5})
                    EXPECT_EQ(folded(op, threads, elements), alone)
                        << op.name << " on " << op.element.name << ", " << threads << " threads";
            }
        }
    }
}

TEST(FoldTeam, divides_only_large_folds_among_threads) {
    std::atomic<int> calls{0};
    Operator op = kernel::find("over");
    op.fold = [&](FoldFunction::Sources, std::byte*, Elements) { ++calls; };
    folded(op, 3, 30000);
    EXPECT_EQ(calls.exchange(0), 3 * 3);
    folded(op, 3, 30); // too little work to be divided
    EXPECT_EQ(calls.load(), 3);
}

TEST(FoldTeam, rethrows_an_exception_of_any_thread) {
    FoldTeam team(3);
    const std::thread::id own = std::this_thread::get_id();
    for (const bool by_helper : {true, false}) {
        Operator op = kernel::find("over");
        const TimeLimit limit;
        std::atomic<int> begun = 0;
        op.fold = [&](FoldFunction::Sources, std::byte*, Elements) {
            ++begun;
            EXPECT_TRUE(limit.wait_until([&] { return begun == 3; })) << "a thread has no part";
            if ((std::this_thread::get_id() != own) == by_helper)
                throw std::runtime_error("cannot be combined");
        };
        const Operator shared = folded_by(team, op);
        Memory memory(Bytes{1} << 20);
        const std::byte* const source = memory.data();
        EXPECT_THROW(shared.fold({&source, 1}, memory.data(), memory.size() / 16),
                     std::runtime_error);
    }
}

TEST(FoldTeam, gives_the_same_bits_for_whole_programs) {
    const Elements elements = 60007;
    for (const auto& algorithm : compositing::catalogue()) {
        const int ranks = 4;
        const compositing::Task task = compositing::one_image_each(ranks, elements, 0);
        run_threads(ranks, [&](const Communicator& communicator) {
            const int rank = communicator.rank();
            const auto image = layers(rank, 1, elements);
            std::vector<std::byte> alone;
            for (const int threads : {1, 2}) {
                Execution execution(
                    communicator,
                    compositing::program(algorithm, task, algorithm.tunings(ranks).front(), rank),
                    kernel::find("over"),
                    {.association = Association::in_order,
                     .trace = false,
                     .fold_threads = threads});
                execution.bind(0, std::as_bytes(std::span(image)));
                execution.run();
                const auto result = execution.result();
                if (threads == 1)
                    alone.assign(result.begin(), result.end());
                else
                    EXPECT_TRUE(std::ranges::equal(result, alone)) << algorithm.name;
            }
        });
    }
}

} // namespace
} // namespace sextant::test
