// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/lab/bench_cases.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::lab {

/// A configuration with its predicted time and its measured time in each launch.
struct EvaluatedConfiguration {
    std::string name; ///< "radix-k, radices 8,4", or a baseline's name
    bool baseline = false;
    std::optional<Seconds> predicted;
    std::vector<Seconds> measured; ///< medians, one per launch
};

struct EvaluatedCase {
    CompositeCase what;
    std::string chosen; ///< the planner's choice
    std::vector<EvaluatedConfiguration> configurations;

    const EvaluatedConfiguration* find(std::string_view name) const;
};

/// Predictions and measurements of the same cases in several launches on one machine.
struct Evaluation {
    std::uint64_t seed = 0;
    int ranks = 1, cores = 1;
    std::string transport, host, machine, date;
    /// Round-trip times that identify the machine's state: the profile's (0: unknown), and one per
    /// launch.
    Seconds profile_round_trip = 0;
    std::vector<Seconds> round_trips;
    std::vector<EvaluatedCase> cases;
};

/// Random cases that do not depend on the calibration: 64 to 8 M pixels, uniform in the logarithm;
/// aspect ratios from 4:1 to 1:4; dense and sparse, distributed and collected.
std::vector<CompositeCase> draw_cases(std::uint64_t seed, int count);

/// Adds the launches of another evaluation of the same cases. Throws InvalidTask if cases differ.
void add_launches(Evaluation& evaluation, const Evaluation& more);

/// Conversion to and from JSON; docs/bench.md describes the fields. read_evaluation throws
/// InvalidFile, naming field and value.
std::string to_json(const Evaluation& evaluation);
Evaluation read_evaluation(const std::string& path);

/// The regret of a policy in each case: the time of the policy's choice over that of the best
/// configuration in the catalogue, minus 1. Negative if the choice is a baseline that is faster
/// than the whole catalogue.
struct Regrets {
    std::string policy;
    std::vector<double> values; ///< one per case in which the policy has a choice

    double mean() const;
    double p95() const;
    double worst() const;
};

/// A case whose regret exceeds the noise.
struct Loss {
    std::string what, chosen, best;
    double regret = 0;
};

struct Verdict {
    Regrets planner;
    /// The regret of an oracle that chooses the fastest configuration of one half of the launches
    /// and is judged by the other half: a lower bound for any planner. Empty for a single launch.
    Regrets floor;
    std::vector<Regrets> policies; ///< fixed rules, independent of the machine
    std::vector<Loss> losses;      ///< largest regret first
    std::vector<double> errors; ///< |predicted / measured - 1| of all configurations of all cases
};

/// Judges the planner and fixed policies. Configurations are compared within each launch, because
/// a machine's speed varies between launches: the time of a configuration is its time relative to
/// the median configuration of the same launch; the median over launches is used. Cases of all
/// evaluations have the same weight.
Verdict judge(std::span<const Evaluation> evaluations);
inline Verdict judge(const Evaluation& evaluation) {
    return judge(std::span(&evaluation, 1));
}

/// The name of each fixed policy's configuration; "" if the policy has none for this task.
std::vector<std::string> configurations_of_policies(int ranks, bool collect);

/// The task of an evaluation, and the number of launches.
struct EvaluateTask {
    int cases = 24;
    std::int64_t seed = 2026;
    int launches = 4, rounds = 9, ranks = 2;
    std::string transport = "threads"; ///< "threads", or "mpi": processes started by `launcher`
    std::string launcher = "mpirun -n 2";
    std::string machine; ///< profile to plan with; "": this machine's
};

/// One launch: predicts and measures every requested case. The machine's state is probed before and
/// after the cases; the recorded round trip is the first one that does not match the profile's
/// state, if any. Returns the evaluation on rank 0; unspecified elsewhere. Collective.
Evaluation evaluate_here(const EvaluateTask& task, const Communicator& communicator);

/// Several launches of this program, one after another. A launch during which the machine's state
/// differs from the profile's is discarded and repeated, a limited number of times; a note is
/// printed. Throws Error if the state differed in every launch.
Evaluation evaluate_in_launches(const EvaluateTask& task);

} // namespace sextant::lab
