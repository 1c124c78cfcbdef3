// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositing/catalogue.hpp"
#include "sextant/core/json_value.hpp"
#include "sextant/planner/plan.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace sextant::planner {

using CompositingPlan = Plan<compositing::Configuration>;

/// Writes a plan as JSON; docs/json.md describes the fields. Includes the alternatives, which
/// parse_plan ignores.
std::string to_json(const CompositingPlan& plan);
Json json_of(const CompositingPlan& plan);
/// Parses a plan. Throws InvalidFile naming the field: invalid JSON, a newer version, missing or
/// wrong fields, an unknown algorithm.
CompositingPlan parse_plan(std::string_view text, const std::string& path);
/// Reads a plan from a file.
CompositingPlan read_plan(const std::string& path);

/// Factors of at most 8, largest first; empty if a prime factor exceeds 8. The default radices of
/// Radix-k if none are requested and nothing is predicted.
std::vector<int> largest_first_radices(int positions);

/// True if the algorithm supports every parameter that the tuning sets.
bool takes(const compositing::Algorithm& algorithm, const compositing::Tuning& requested);

/// The plan for an algorithm requested by name; parameters not set in `requested` keep the
/// algorithm's defaults. Throws InvalidTask for an unknown name, radices or a window for an
/// algorithm that has none, radices whose product is not the number of positions, or a number of
/// positions that the algorithm does not support.
CompositingPlan choose_by_name(const std::string& name, const compositing::Tuning& requested,
                               int positions);

/// All configurations for a task that match the requested tuning. Throws InvalidTask if there are
/// none.
std::vector<compositing::Configuration> configurations_with(const compositing::Task& task,
                                                            const compositing::Tuning& requested);

} // namespace sextant::planner
