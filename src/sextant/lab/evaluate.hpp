// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/lab/evaluation.hpp"
#include "sextant/lab/winner_map.hpp"

#include <span>
#include <string>

namespace sextant::lab {

/// Returns a map of the fastest algorithm on one machine, by number of ranks and image size.
/// Algorithms are compared by their best configurations. Radix-k with one radix counts as
/// Direct-Send; Radix-k with all radices 2 counts as Binary-Swap. Throws InvalidTask if the
/// evaluations are of different machines.
WinnerMap winners(std::span<const Evaluation> evaluations);

/// Returns the map as a Markdown table.
std::string to_markdown(const WinnerMap& map);

} // namespace sextant::lab
