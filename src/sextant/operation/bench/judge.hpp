// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/operation/bench/evaluation.hpp"

#include <span>
#include <string>
#include <vector>

namespace sextant::operation {

/// What following a policy cost: the time of what it takes over that of the best way of the
/// catalogue, minus 1; below nothing where a baseline is faster than them all.
struct Regrets {
    std::string policy;
    std::vector<double> values; ///< one a case in which the policy has a way

    double mean() const;
    double p95() const;
    double worst() const;
};

/// A case in which the choice lost more than the noise explains.
struct Loss {
    std::string what, chosen, best;
    double regret = 0;
};

struct Verdict {
    Regrets planner;
    /// Of an oracle that knows half of the launches and is judged by the other half: what nobody
    /// can do better than. Empty of one launch.
    Regrets floor;
    std::vector<Regrets> policies; ///< fixed ones, which do not look at the machine
    std::vector<Loss> losses;      ///< the largest first
    std::vector<double> errors;    ///< |predicted / measured - 1| of all ways of all cases
};

/// Ways are compared within each launch, since machines differ from launch to launch: a way's time
/// is the median over launches of its share of the launch's median way.
/// Cases of several evaluations, of other machines or numbers of ranks, count alike.
Verdict judge(std::span<const Evaluation> evaluations);
inline Verdict judge(const Evaluation& evaluation) {
    return judge(std::span(&evaluation, 1));
}

/// The names of the ways that the fixed policies take; "" for those that have none.
std::vector<std::string> ways_of_policies(int ranks, bool collect);

} // namespace sextant::operation
