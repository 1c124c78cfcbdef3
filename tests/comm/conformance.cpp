// SPDX-License-Identifier: BSD-3-Clause
// Every algorithm of the catalogue over threads, compared with the serial fold.
#include "sextant/comm/threads.hpp"

#include "tests/support/blending.hpp"
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

using compositing::Task;
using compositing::Tuning;

void expect_conformance(const compositing::Algorithm& algorithm, const Task& task,
                        const Tuning& tuning, Association association, int frames) {
    const std::vector<RgbaF32> whole = serial_composite(task.all_layers(), task.elements);
    std::vector<float> differences(static_cast<std::size_t>(task.ranks), -1);
    run_threads(task.ranks, [&](Communicator communicator) {
        const auto part = composite(communicator, algorithm, task, tuning, association, frames);
        const int rank = communicator.rank();
        differences[static_cast<std::size_t>(rank)] =
            difference(part, expected_part(algorithm, task, tuning, rank, whole));
    });
    for (std::size_t rank = 0; rank < differences.size(); ++rank) {
        EXPECT_GE(differences[rank], 0);
        EXPECT_LE(differences[rank], tolerance(algorithm, association, task.all_layers()))
            << fmt::format("{} {} p={} n={} {} rank {}", algorithm.name, to_text(tuning),
                           task.ranks, task.elements, name(association), rank);
    }
}

TEST(Threads, EveryAlgorithmEqualsTheSerialFoldOn1To17Ranks) {
    for (int ranks = 1; ranks <= 17; ++ranks) {
        for (const Elements elements : {1, 997, 509 * 503}) {
            for (const auto& algorithm : compositing::catalogue()) {
                const auto tunings = algorithm.tunings(ranks);
                for (const Tuning& tuning : tunings) {
                    const bool large = elements > 1000;
                    if (large && !(tuning == tunings.front()))
                        continue;
                    const Task task = compositing::one_image_each(ranks, elements, ranks / 2);
                    expect_conformance(algorithm, task, tuning, Association::in_order, 1);
                }
            }
        }
    }
}

TEST(Threads, ArrivalOrderChangesResultsOnlyWithinTheRoundingBound) {
    for (int ranks : {2, 3, 5, 8, 12}) {
        for (const auto& algorithm : compositing::catalogue()) {
            for (const Tuning& tuning : algorithm.tunings(ranks)) {
                expect_conformance(algorithm, compositing::one_image_each(ranks, 4001), tuning,
                                   Association::by_arrival, 3);
            }
        }
    }
}

TEST(Threads, RepeatedFramesGiveTheSameImage) {
    for (const auto& algorithm : compositing::catalogue()) {
        for (int ranks : {2, 4, 7, 8}) {
            if (algorithm.tunings(ranks).empty())
                continue;
            expect_conformance(algorithm, compositing::one_image_each(ranks, 997, 0),
                               algorithm.tunings(ranks).front(), Association::in_order, 50);
        }
    }
}

TEST(Threads, LayersInAnyOrderEmptyRanksAndDistributedResultsWork) {
    Task task;
    task.ranks = 6;
    task.elements = 1003;
    task.order = {4, 0, 5, 2}; // ranks 1 and 3 have no image
    task.layers = {2, 1, 3, 1};
    for (int root : {Task::distributed, 0, 1, 5}) {
        task.root = root;
        for (const auto& algorithm : compositing::catalogue()) {
            for (const Tuning& tuning : algorithm.tunings(4)) {
                expect_conformance(algorithm, task, tuning, Association::in_order, 2);
            }
        }
    }
}

TEST(Threads, EightLayersGiveTheSameBitsOnAnyNumberOfRanks) {
    for (int ranks : {1, 2, 3, 5, 8}) {
        Task task = compositing::one_image_each(ranks, 4099, 0);
        for (int i = 0; i < ranks; ++i) {
            task.layers[static_cast<std::size_t>(i)] = 8 * (i + 1) / ranks - 8 * i / ranks;
        }
        for (const char* algorithm : {"direct-send", "shift-based"}) {
            const auto& row = compositing::find(algorithm);
            expect_conformance(row, task, row.tunings(ranks).front(), Association::in_order, 1);
        }
    }
}

TEST(Threads, SplitGroupsWorkConcurrently) {
    run_threads(7, [](Communicator all) {
        const Communicator half = all.split(all.rank() % 2, -all.rank());
        EXPECT_EQ(half.size(), all.rank() % 2 ? 3 : 4);
        const Task task = compositing::one_image_each(half.size(), 500);
        const auto& row = compositing::find("direct-send");
        const auto part = composite(half, row, task, {}, Association::in_order, 3);
        const auto whole = serial_composite(half.size(), 500);
        EXPECT_EQ(difference(part, expected_part(row, task, {}, half.rank(), whole)), 0);
    });
}

} // namespace
} // namespace sextant::test
