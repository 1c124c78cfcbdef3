// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/agreement.hpp"

#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tests/support/blending.hpp"
#include "tests/support/group_cases.hpp"
#include <fmt/format.h>

// Every algorithm of the catalogue on any communicator, compared with the serial fold.
namespace sextant::test {

/// The serial fold, which each thread computes once.
inline const std::vector<RgbaF32>& serial_image(int layers, Elements elements) {
    thread_local std::map<std::pair<int, Elements>, std::vector<RgbaF32>> images;
    auto& image = images[{layers, elements}];
    if (image.empty())
        image = serial_composite(layers, elements);
    return image;
}

inline void expect_conformance(const Communicator& communicator,
                               const compositing::Algorithm& algorithm,
                               const compositing::Task& task, const compositing::Tuning& tuning,
                               Association association, int frames) {
    const auto& whole = serial_image(task.all_layers(), task.elements);
    const auto part = composite(communicator, algorithm, task, tuning, association, frames);
    const int rank = communicator.rank();
    EXPECT_LE(difference(part, expected_part(algorithm, task, tuning, rank, whole)),
              tolerance(algorithm, association, task.all_layers()))
        << fmt::format("{} {} p={} n={} {} rank {}", algorithm.name, to_text(tuning), task.ranks,
                       task.elements, name(association), rank);
}

inline void every_algorithm_equals_the_serial_fold(const Communicator& communicator) {
    const int size = communicator.size();
    for (const Elements elements : {1, 997, 509 * 503}) {
        for (const auto& algorithm : compositing::catalogue()) {
            for (const compositing::Tuning& tuning : algorithm.tunings(size)) {
                const bool large = elements > 1000;
                expect_conformance(communicator, algorithm,
                                   compositing::one_image_each(size, elements, size - 1), tuning,
                                   Association::in_order, large ? 1 : 2);
                if (large)
                    break;
            }
        }
    }
}

inline void
arrival_order_changes_results_only_within_the_rounding_bound(const Communicator& communicator) {
    const int size = communicator.size();
    for (const auto& algorithm : compositing::catalogue()) {
        for (const compositing::Tuning& tuning : algorithm.tunings(size))
            expect_conformance(communicator, algorithm, compositing::one_image_each(size, 4001),
                               tuning, Association::by_arrival, 3);
    }
}

/// Several layers are sent as strided messages; some ranks have no image.
inline void layers_may_have_any_order_and_ranks_no_image(const Communicator& communicator) {
    compositing::Task task;
    task.ranks = communicator.size();
    task.elements = 1003;
    task.order = {4, 0, task.ranks - 1, 2};
    task.layers = {2, 1, 3, 1};
    for (int root : {compositing::Task::distributed, 0, 1, task.ranks - 1}) {
        task.root = root;
        for (const auto& algorithm : compositing::catalogue()) {
            for (const compositing::Tuning& tuning : algorithm.tunings(4))
                expect_conformance(communicator, algorithm, task, tuning, Association::in_order, 2);
        }
    }
}

inline void
an_operator_exception_reaches_its_receivers_and_the_group_stays_usable(const Communicator& group) {
    const int size = group.size(), rank = group.rank();
    for (const auto& algorithm : compositing::catalogue()) {
        if (algorithm.tunings(size).empty())
            continue;
        const compositing::Tuning tuning = algorithm.tunings(size).front();
        const compositing::Task task = compositing::one_image_each(size, 9000, 0);
        Operator op = kernel::find("over");
        if (rank == last_to_fold(algorithm, task, tuning))
            op.fold = [](auto, auto, auto) { throw std::runtime_error("broke"); };
        const auto images = layers(rank, 1, task.elements);
        Execution broken(group, compositing::program(algorithm, task, tuning, rank), op);
        broken.bind(0, std::as_bytes(std::span(images)));
        bool ended = false;
        EXPECT_THROW(agree(group,
                           [&] {
                               broken.run();
                               ended = true;
                           }),
                     AgreedFailure);
        EXPECT_FALSE(ended && rank == task.root) << algorithm.name;
        expect_conformance(group, algorithm, task, tuning, Association::in_order, 1);
    }
}

inline void split_groups_work_concurrently(const Communicator& communicator) {
    const int rank = communicator.rank(), size = communicator.size();
    const Communicator half = communicator.split(rank % 2, -rank);
    EXPECT_EQ(half.size(), (size + 1 - rank % 2) / 2);
    expect_conformance(half, compositing::find("direct-send"),
                       compositing::one_image_each(half.size(), 500), {}, Association::in_order, 3);
    EXPECT_EQ(communicator.all_gather(rank).back(), size - 1);
}

inline std::vector<GroupCase> conformance_cases() {
    return {
        GROUP_CASE(every_algorithm_equals_the_serial_fold),
        GROUP_CASE(arrival_order_changes_results_only_within_the_rounding_bound),
        GROUP_CASE(layers_may_have_any_order_and_ranks_no_image, {6, 7}),
        GROUP_CASE(an_operator_exception_reaches_its_receivers_and_the_group_stays_usable,
                   {2, 3, 4, 7}),
        GROUP_CASE(split_groups_work_concurrently, {7}),
    };
}

} // namespace sextant::test
