// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/lab/bench_cases.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::lab {

/// A configuration: its predicted time, and its measured time in each launch.
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

/// Predictions and measurements of the same cases, launch by launch.
struct Evaluation {
    std::uint64_t seed = 0;
    int ranks = 1, cores = 1;
    std::string transport, host, machine, date;
    /// The round trip that identifies the profile's state (0: unknown), and that of each launch.
    Seconds profile_round_trip = 0;
    std::vector<Seconds> round_trips;
    std::vector<EvaluatedCase> cases;
};

/// Random cases, independent of what was calibrated: 64 to 8 M pixels, uniform in the logarithm;
/// aspect ratios from 4:1 to 1:4; dense and sparse, distributed and collected.
std::vector<CompositeCase> draw_cases(std::uint64_t seed, int count);

/// Adds the launches of another evaluation of the same cases. Throws InvalidTask if cases differ.
void add_launches(Evaluation& evaluation, const Evaluation& more);

/// Conversion to and from JSON; docs/bench.md describes the fields. Throws InvalidFile, naming
/// field and value.
std::string to_json(const Evaluation& evaluation);
Evaluation read_evaluation(const std::string& path);

/// The regret of a policy: the time of its choice over that of the catalogue's best configuration,
/// minus 1. Negative if a baseline is faster than the whole catalogue.
struct Regrets {
    std::string policy;
    std::vector<double> values; ///< one per case in which the policy has a choice

    double mean() const;
    double p95() const;
    double worst() const;
};

/// A case with more regret than noise explains.
struct Loss {
    std::string what, chosen, best;
    double regret = 0;
};

struct Verdict {
    Regrets planner;
    /// The regret of an oracle that knows half of the launches and is judged by the other half: a
    /// lower bound for any planner. Empty for a single launch.
    Regrets floor;
    std::vector<Regrets> policies; ///< fixed, independent of the machine
    std::vector<Loss> losses;      ///< the largest first
    std::vector<double> errors; ///< |predicted / measured - 1| of all configurations of all cases
};

/// Judges the planner and fixed policies. Configurations are compared within each launch, because
/// machines differ between launches: the time of a configuration is the median over launches of its
/// time relative to the launch's median configuration. Cases of all evaluations have the same
/// weight.
Verdict judge(std::span<const Evaluation> evaluations);
inline Verdict judge(const Evaluation& evaluation) {
    return judge(std::span(&evaluation, 1));
}

/// The names of the fixed policies' configurations; "" for policies that have none.
std::vector<std::string> configurations_of_policies(int ranks, bool collect);

} // namespace sextant::lab
