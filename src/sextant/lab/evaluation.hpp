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

/// A configuration with its predicted time and, for each launch, its measured time.
struct EvaluatedConfiguration {
    std::string name; ///< "radix-k, radices 8,4", or a baseline's name
    bool baseline = false;
    std::optional<Seconds> predicted;
    std::vector<Seconds> measured; ///< medians, one per launch
};

struct EvaluatedCase {
    CompositeCase what;
    std::string chosen; ///< name of the configuration that the planner chose
    std::vector<EvaluatedConfiguration> configurations;

    const EvaluatedConfiguration* find(std::string_view name) const;
};

/// Predictions and measurements of the same cases in several launches on one machine.
struct Evaluation {
    std::uint64_t seed = 0;
    int ranks = 1, cores = 1;
    std::string transport, host, machine, date;
    /// Round-trip times that identify the machine's state: that of the profile (0: unknown), and
    /// one per launch.
    Seconds profile_round_trip = 0;
    std::vector<Seconds> round_trips;
    std::vector<EvaluatedCase> cases;
};

/// Draws random cases that do not depend on the calibration: 64 to 8 M pixels, log-uniform; aspect
/// ratios from 4:1 to 1:4; dense and sparse, distributed and collected.
std::vector<CompositeCase> draw_cases(std::uint64_t seed, int count);

/// Adds the launches of another evaluation of the same cases. Throws InvalidTask if the cases
/// differ.
void add_launches(Evaluation& evaluation, const Evaluation& more);

/// Converts to and from JSON; docs/json.md describes the fields. read_evaluation() throws
/// InvalidFile, naming the field and its value.
std::string to_json(const Evaluation& evaluation);
Evaluation read_evaluation(const std::string& path);

/// The regret of a policy in each case: the time of the configuration that the policy chooses,
/// divided by that of the best configuration in the catalogue, minus 1. The regret is negative if
/// the policy chooses a baseline that is faster than the entire catalogue.
struct Regrets {
    std::string policy;
    std::vector<double> values; ///< one per case for which the policy has a configuration

    double mean() const;
    double p95() const;
    double worst() const;
};

/// A case in which the regret exceeds the noise.
struct Loss {
    std::string what, chosen, best;
    double regret = 0;
};

struct Verdict {
    Regrets planner;
    /// The regret of an oracle that chooses the configuration that is fastest in one half of the
    /// launches and is judged by the other half: a lower bound for any planner. Empty for a single
    /// launch.
    Regrets floor;
    std::vector<Regrets> policies; ///< policies that do not depend on the machine
    std::vector<Loss> losses;      ///< largest regret first
    std::vector<double> errors; ///< |predicted / measured - 1| of all configurations of all cases
};

/// Judges the planner and fixed policies. Configurations are compared within each launch, because a
/// machine's speed varies between launches: times are divided by that of the median configuration
/// of the same launch, and the median over launches is used. The cases of all evaluations have the
/// same weight.
Verdict judge(std::span<const Evaluation> evaluations);
inline Verdict judge(const Evaluation& evaluation) {
    return judge(std::span(&evaluation, 1));
}

/// Returns the name of the configuration of each fixed policy; "" if the policy has none for this
/// task.
std::vector<std::string> configurations_of_policies(int ranks, bool collect);

/// The task of an evaluation, including the number of launches.
struct EvaluateTask {
    int cases = 24;
    std::int64_t seed = 2026;
    int launches = 4, rounds = 9, ranks = 2;
    std::string transport = "threads"; ///< "threads", or "mpi": processes started by `launcher`
    std::string launcher = "mpirun -n 2";
    std::string machine; ///< profile used for planning; "": that of this machine
};

/// Predicts and measures every requested case in one launch. The machine's state is probed before
/// and after the cases. The recorded round-trip time is that after the cases or, if that before the
/// cases does not match the profile's state, the latter. Returns the evaluation on rank 0;
/// unspecified elsewhere. Collective.
Evaluation evaluate_here(const EvaluateTask& task, const Communicator& communicator);

/// Launches this program several times, one after another. A launch is discarded and repeated,
/// a limited number of times, if the machine's state differs from that of the profile; a note is
/// printed. Throws Error if the state differed in every launch.
Evaluation evaluate_in_launches(const EvaluateTask& task);

} // namespace sextant::lab
