// SPDX-License-Identifier: BSD-3-Clause
// Every algorithm of the catalogue over MPI, in groups of 1, 2, 3, 4 and 7 ranks, compared with the
// serial fold.
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/mpi.hpp"
#include "sextant/core/error.hpp"

#include "tests/mpi/groups.hpp"
#include "tests/support/blending.hpp"
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

using compositing::Task;
using compositing::Tuning;

void expect_conformance(const Communicator& communicator, const compositing::Algorithm& algorithm,
                        const Task& task, const Tuning& tuning, Association association,
                        int frames) {
    const auto whole = serial_composite(task.all_layers(), task.elements);
    const auto part = composite(communicator, algorithm, task, tuning, association, frames);
    const int rank = communicator.rank();
    EXPECT_LE(difference(part, expected_part(algorithm, task, tuning, rank, whole)),
              tolerance(algorithm, association, task.all_layers()))
        << fmt::format("{} {} p={} n={} {} rank {}", algorithm.name, to_text(tuning), task.ranks,
                       task.elements, name(association), rank);
}

TEST(Mpi, EveryAlgorithmEqualsTheSerialFoldInEveryGroup) {
    for (int size : group_sizes) {
        on_group(size, [&](const Communicator& communicator) {
            for (const Elements elements : {1, 997, 509 * 503}) {
                for (const auto& algorithm : compositing::catalogue()) {
                    for (const Tuning& tuning : algorithm.tunings(size)) {
                        expect_conformance(communicator, algorithm,
                                           compositing::one_image_each(size, elements, size - 1),
                                           tuning, Association::in_order, 2);
                    }
                }
            }
        });
    }
}

TEST(Mpi, ArrivalOrderChangesResultsOnlyWithinTheRoundingBound) {
    for (int size : group_sizes) {
        on_group(size, [&](const Communicator& communicator) {
            for (const auto& algorithm : compositing::catalogue()) {
                for (const Tuning& tuning : algorithm.tunings(size)) {
                    expect_conformance(communicator, algorithm,
                                       compositing::one_image_each(size, 40001), tuning,
                                       Association::by_arrival, 3);
                }
            }
        });
    }
}

TEST(Mpi, SeveralLayersAreSentAsStridedMessages) {
    on_group(7, [&](const Communicator& communicator) {
        Task task;
        task.ranks = 7;
        task.elements = 1003;
        task.order = {4, 0, 6, 2};
        task.layers = {2, 1, 3, 1};
        for (int root : {Task::distributed, 1, 6}) {
            task.root = root;
            for (const auto& algorithm : compositing::catalogue()) {
                for (const Tuning& tuning : algorithm.tunings(4)) {
                    expect_conformance(communicator, algorithm, task, tuning, Association::in_order,
                                       3);
                }
            }
        }
    });
}

TEST(Mpi, AnOperatorExceptionReachesItsReceiversWithoutEndingAnyProcess) {
    for (int size : {2, 3, 4, 7}) {
        on_group(size, [&](const Communicator& communicator) {
            for (const auto& algorithm : compositing::catalogue()) {
                if (algorithm.tunings(size).empty())
                    continue;
                const Tuning tuning = algorithm.tunings(size).front();
                const Task task = compositing::one_image_each(size, 100000, 0);
                const int rank = communicator.rank();
                Operator op = kernel::find("over");
                if (rank == last_to_fold(algorithm, task, tuning)) {
                    op.fold = [](auto, auto, auto) { throw std::runtime_error("broke"); };
                }
                const auto images = layers(rank, 1, task.elements);
                Execution broken(communicator, compositing::program(algorithm, task, tuning, rank),
                                 op);
                broken.bind(0, std::as_bytes(std::span(images)));
                EXPECT_THROW(agree(communicator, [&] { broken.run(); }), AgreedFailure);
                expect_conformance(communicator, algorithm, task, tuning, Association::in_order, 1);
            }
        });
    }
}

TEST(Mpi, TheSameCommunicatorIsDuplicatedOnceAndSplitGroupsWork) {
    on_group(7, [&](const Communicator& communicator) {
        const Communicator half = communicator.split(communicator.rank() % 2, 0);
        expect_conformance(half, compositing::find("direct-send"),
                           compositing::one_image_each(half.size(), 500), {}, Association::in_order,
                           2);
        EXPECT_EQ(communicator.all_gather(communicator.rank()).back(), 6);
    });
}

} // namespace
} // namespace sextant::test
