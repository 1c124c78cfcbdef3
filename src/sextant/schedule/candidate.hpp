// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/program.hpp"

#include <functional>
#include <string>
#include <vector>

namespace sextant {

/// One way to do a task, whatever the family: what a planner compares. Rank programs are made when
/// they are asked for, since those of all ranks are many.
struct Candidate {
    std::string algorithm; ///< a name of the family's catalogue
    std::string tuning;    ///< as text; empty where nothing is set
    int ranks = 1;
    std::function<Program(int rank)> program;
    /// Ranks that may have most to do, cheap programs first: what one of them needs, all need.
    std::vector<int> busiest = {0};
    Seconds before = 0; ///< that pass before it begins, as for reading, by whatever knows

    /// "radix-k, radices 8,4".
    std::string text() const { return tuning.empty() ? algorithm : algorithm + ", " + tuning; }
};

/// Whether two programs do the same, whatever their rounds and groups are called.
bool same_work(const Program& a, const Program& b);

} // namespace sextant
