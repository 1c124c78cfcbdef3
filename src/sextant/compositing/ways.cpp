// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/compositing/ways.hpp"

#include <algorithm>

namespace sextant::compositing {

std::string Way::text() const {
    const std::string tuned = to_text(tuning);
    const std::string name(algorithm->name);
    return tuned.empty() ? name : name + ", " + tuned;
}

std::vector<Way> ways(const Task& task) {
    std::vector<Way> all;
    for (const Algorithm& algorithm : catalogue()) {
        for (Tuning& tuning : algorithm.tunings(std::max(1, task.positions())))
            all.push_back({&algorithm, std::move(tuning)});
    }
    return all;
}

namespace {

/// Somewhere in the middle, at both ends, and where the picture is collected, whose program is the
/// longest.
std::vector<int> busiest(const Task& task) {
    std::vector<int> ranks;
    const auto add = [&](int rank) {
        if (std::find(ranks.begin(), ranks.end(), rank) == ranks.end())
            ranks.push_back(rank);
    };
    const auto at = [&](int position) { return task.order[static_cast<std::size_t>(position)]; };
    const int positions = task.positions();
    for (const int position : {positions / 2, positions - 1, 0}) {
        if (position >= 0 && position < positions && at(position) != task.root)
            add(at(position));
    }
    if (task.root != Task::distributed)
        add(task.root);
    if (ranks.empty())
        add(positions > 0 ? at(0) : 0);
    return ranks;
}

} // namespace

Candidate candidate(const Task& task, const Way& way) {
    return {std::string(way.algorithm->name), to_text(way.tuning), task.ranks,
            [&task, way](int rank) { return program(*way.algorithm, task, way.tuning, rank); },
            busiest(task)};
}

} // namespace sextant::compositing
