// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/lab/bench_cases.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::command {

/// A way to composite: what it was predicted to take, and what it took in each launch.
struct EvaluatedWay {
    std::string name; ///< "radix-k, radices 8,4", or a baseline's
    bool baseline = false;
    std::optional<Seconds> predicted;
    std::vector<Seconds> measured; ///< medians, one a launch
};

struct EvaluatedCase {
    CompositeCase what;
    std::string chosen; ///< the planner's
    std::vector<EvaluatedWay> ways;

    const EvaluatedWay* find(std::string_view name) const;
};

/// Predictions and measurements of the same cases, launch by launch.
struct Evaluation {
    std::uint64_t seed = 0;
    int ranks = 1, cores = 1;
    std::string transport, host, machine, date;
    /// The round trip by which the profile's state is known (0 if it is not), and that of
    /// each launch.
    Seconds profile_round_trip = 0;
    std::vector<Seconds> round_trips;
    std::vector<EvaluatedCase> cases;
};

/// Cases drawn by a seed, whatever was calibrated: 64 to 8 M pixels, evenly in the logarithm, from
/// four times as wide to four times as high; dense and sparse, distributed and collected.
std::vector<CompositeCase> draw_cases(std::uint64_t seed, int count);

/// Adds the launches of another evaluation of the same cases. Throws InvalidTask where they differ.
void add_launches(Evaluation& evaluation, const Evaluation& more);

/// As JSON, and back; docs/bench.md has the fields. Throws InvalidFile, naming field and value.
std::string to_json(const Evaluation& evaluation);
Evaluation read_evaluation(const std::string& path);

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

} // namespace sextant::command
