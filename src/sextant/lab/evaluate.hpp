// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"
#include "sextant/lab/evaluation.hpp"
#include "sextant/lab/winner_map.hpp"

#include <span>
#include <string>

namespace sextant::lab {

command::Operation evaluate_operation();

/// A map of the winning algorithm on one machine, by ranks and image size. Each algorithm counts
/// with its best configuration; Radix-k with one radix counts as Direct-Send, with twos as
/// Binary-Swap. Throws InvalidTask if evaluations are of several machines.
WinnerMap winners(std::span<const Evaluation> evaluations);

/// The map as a Markdown table.
std::string to_markdown(const WinnerMap& map);

} // namespace sextant::lab
