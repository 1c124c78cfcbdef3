// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/operation/bench/bench_cases.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::operation {

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

} // namespace sextant::operation
