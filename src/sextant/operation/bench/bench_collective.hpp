// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/operation/bench/bench_collective_cases.hpp"
#include "sextant/operation/bench/contest.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sextant::operation {

/// How one way to do a collective did at one size.
struct CollectiveResult {
    std::string name;
    bool baseline = false;
    std::optional<Seconds> predicted; ///< as usual on this machine; nothing of baselines
    Estimate wall, cpu;               ///< seconds: of the slowest rank, of all ranks
    Estimate ratio;                   ///< to the first
};

struct ResultsOfSize {
    Bytes size = 0;
    std::vector<CollectiveResult> results; ///< the baselines first
};

struct CollectiveResults {
    CollectiveCase what;
    int ranks = 1;
    std::vector<ResultsOfSize> sizes;
};

/// Times every algorithm for a case, and MPI's own where the communicator has it, against each
/// other, one size after another. What each one's ranks received is first compared with what they
/// should have: a wrong one throws std::logic_error. Collective.
CollectiveResults bench_collective(const Communicator& communicator, const CollectiveCase& what,
                                   const ContestOptions& options);

} // namespace sextant::operation
