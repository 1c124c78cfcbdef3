// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"
#include "sextant/lab/evaluation.hpp"
#include "sextant/lab/winner_map.hpp"

#include <span>
#include <string>

namespace sextant::command {

Operation evaluate_operation();

/// Where each algorithm wins on one machine: ranks by size of the picture. Of the ways of an
/// algorithm, the best counts; Radix-k with one radix is Direct-Send, with twos Binary-Swap.
///
/// Requires  evaluations of one machine (InvalidTask).
report::WinnerMap winners(std::span<const Evaluation> evaluations);

/// The same as a table to read on a screen, and to keep: Markdown.
std::string to_markdown(const report::WinnerMap& map);

} // namespace sextant::command
