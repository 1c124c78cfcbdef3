// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositing/catalogue.hpp"
#include "sextant/core/units.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::planner {

/// A configuration that was considered for the task.
struct Alternative {
    /// A predicted time with its interval.
    struct Expected {
        Seconds seconds = 0, low = 0, high = 0;
    };
    compositing::Configuration configuration;
    std::optional<Seconds> bound;     ///< lower bound from one rank alone (predictor.hpp)
    std::optional<Expected> expected; ///< of all ranks together, if predicted
    std::optional<Seconds> raced;     ///< median over its frames, if raced (race.hpp)
    std::string remark;
};

/// The choice for a compositing task, and the reason.
struct Plan {
    const compositing::Algorithm* algorithm = nullptr;
    compositing::Tuning tuning;
    bool sparse = false; ///< skip empty pixels in messages
    std::string reason;
    // If it was predicted, on the rank that chose:
    std::string model, machine;
    std::vector<Alternative> alternatives; ///< the chosen one first, then by quality
    std::size_t rivals = 1;                ///< of them, those that may be fastest

    /// A short text: "radix-k, radices 8,4, sparse".
    std::string text() const;
    /// The predicted time, on the rank that chose.
    std::optional<Seconds> expected() const;
    compositing::Configuration configuration() const { return {algorithm, tuning}; }
    void take(const compositing::Configuration& configuration);
};

/// Writes a plan as JSON; docs/json.md describes the fields. Includes the alternatives, which
/// parse_plan ignores.
std::string to_json(const Plan& plan);
/// Parses a plan. Throws InvalidFile naming the field: invalid JSON, a newer version, missing or
/// wrong fields, an unknown algorithm.
Plan parse_plan(std::string_view text, const std::string& path);
/// Reads a plan from a file.
Plan read_plan(const std::string& path);

/// Factors of at most 8, largest first; empty if a prime factor exceeds 8. The default radices of
/// Radix-k if none are requested and nothing is predicted.
std::vector<int> largest_first_radices(int positions);

/// True if the algorithm supports every parameter that the tuning sets.
bool takes(const compositing::Algorithm& algorithm, const compositing::Tuning& requested);

/// The plan for an algorithm requested by name; parameters not set in `requested` keep the
/// algorithm's defaults. Throws InvalidTask for an unknown name, radices or a window for an
/// algorithm that has none, radices whose product is not the number of positions, or a number of
/// positions that the algorithm does not support.
Plan choose_by_name(const std::string& name, const compositing::Tuning& requested, int positions);

/// All configurations for a task that match the tuning asked for. Throws InvalidTask if there are
/// none.
std::vector<compositing::Configuration> configurations_with(const compositing::Task& task,
                                                            const compositing::Tuning& requested);

} // namespace sextant::planner
