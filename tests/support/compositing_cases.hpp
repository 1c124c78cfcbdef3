// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositing/catalogue.hpp"

#include <numeric>

#include "tests/support/random.hpp"
#include "tests/support/schedules.hpp"
#include <fmt/ranges.h>

namespace sextant::test {

inline std::string describe(const compositing::Algorithm& algorithm, const compositing::Task& task,
                            const compositing::Tuning& tuning) {
    return fmt::format("{} ({}): {} ranks, {} pixels, order {}, layers {}, root {}", algorithm.name,
                       compositing::to_text(tuning), task.ranks, task.elements,
                       fmt::join(task.order, ","), fmt::join(task.layers, ","), task.root);
}

inline Case compositing_case(const compositing::Algorithm& algorithm, const compositing::Task& task,
                             const compositing::Tuning& tuning) {
    return {describe(algorithm, task, tuning),
            make_schedule(
                task.ranks,
                [&](int rank) { return compositing::program(algorithm, task, tuning, rank); }),
            compositing::claim(algorithm, task, tuning)};
}

/// Random visibility order of `positions` ranks, each with one to three layers; up to three more
/// ranks have no image.
inline compositing::Task rough_task(Random& random, int positions, Elements elements) {
    compositing::Task task;
    task.ranks = positions + random.number(1, 3);
    task.elements = elements;
    task.order.resize(static_cast<std::size_t>(task.ranks));
    std::iota(task.order.begin(), task.order.end(), 0);
    random.shuffle(task.order);
    task.order.resize(static_cast<std::size_t>(positions));
    for (int i = 0; i < positions; ++i)
        task.layers.push_back(random.number(1, 3));
    return task;
}

/// The first rank without an image.
inline int outsider(const compositing::Task& task) {
    int rank = 0;
    while (rank < task.ranks && task.position_of(rank) >= 0)
        ++rank;
    return rank;
}

} // namespace sextant::test
