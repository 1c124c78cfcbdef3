// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositing/catalogue.hpp"
#include "sextant/schedule/candidate.hpp"

#include <vector>

namespace sextant::compositing {

/// An algorithm in one tuning.
struct Way {
    const Algorithm* algorithm = nullptr;
    Tuning tuning;

    /// "radix-k, radices 8,4".
    std::string text() const;
    bool operator==(const Way&) const = default;
};

/// Every way to do a task, in the order of the catalogue, each algorithm's usual tuning first.
/// Cost      the ordered factorisations of the positions: 8,192 at 16,384.
std::vector<Way> ways(const Task& task);

/// A way as the planner sees it. Keep the task alive.
Candidate candidate(const Task& task, const Way& way);

} // namespace sextant::compositing
