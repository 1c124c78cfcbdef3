// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositing/catalogue.hpp"

#include <string_view>

#include <fmt/format.h>

namespace sextant::test {

inline Schedule compositing_schedule(const compositing::Algorithm& algorithm, int ranks,
                                     const compositing::Tuning& tuning, Elements elements = 960,
                                     int root = compositing::Task::distributed) {
    const compositing::Task task = compositing::one_image_each(ranks, elements, root);
    return make_schedule(
        ranks, [&](int rank) { return compositing::program(algorithm, task, tuning, rank); });
}

inline Schedule compositing_schedule(std::string_view algorithm, int ranks,
                                     const compositing::Tuning& tuning = {}) {
    return compositing_schedule(compositing::find(algorithm), ranks, tuning);
}

/// Calls `visit` with the name and schedule of every algorithm with every tuning, for 1 to 9 ranks,
/// distributed and collected.
template <class Visit>
void for_each_compositing_schedule(Visit&& visit) {
    for (const compositing::Algorithm& algorithm : compositing::catalogue()) {
        for (int ranks = 1; ranks <= 9; ++ranks) {
            for (const compositing::Tuning& tuning : algorithm.tunings(ranks)) {
                for (int root : {compositing::Task::distributed, ranks - 1}) {
                    visit(fmt::format("{} ({}), {} ranks, root {}", algorithm.name,
                                      compositing::to_text(tuning), ranks, root),
                          compositing_schedule(algorithm, ranks, tuning, 960, root));
                }
            }
        }
    }
}

/// Two ranks that each wait for the other's message before they send; other ranks have no steps.
inline Schedule deadlock(int ranks) {
    Schedule schedule(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < 2; ++rank) {
        Program& program = schedule[static_cast<std::size_t>(rank)];
        program.buffers = {{Role::scratch, 4}};
        program.regions = {block(0, 0, 4), block(0, 0, 4)};
        program.steps = {{Verb::receive, 0, 0, 1 - rank, 0, 1, {}},
                         {Verb::send, 0, 0, 1 - rank, 1, 1, {}}};
    }
    return schedule;
}

inline int count_steps(const Schedule& schedule, Verb verb) {
    int count = 0;
    for (const Program& program : schedule) {
        for (const Step& step : program.steps)
            count += step.verb == verb ? 1 : 0;
    }
    return count;
}

} // namespace sextant::test
