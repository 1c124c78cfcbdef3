// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/planner/plan.hpp"

#include <string>
#include <vector>

namespace sextant::planner {

/// Factors of 8 at most, largest first; empty where a prime factor is larger than 8. Radix-k is
/// tuned so where nothing is asked and nothing predicted.
std::vector<int> largest_first_radices(int positions);

/// Whether an algorithm has what a tuning sets.
bool takes(const compositing::Algorithm& algorithm, const compositing::Tuning& asked);

/// What was asked for by name; what `asked` leaves open is as usual for the algorithm.
/// Throws InvalidTask: an unknown name, radices or a window for an algorithm that has none, radices
/// that do not multiply to the positions, a number of positions that the algorithm does not take.
Plan choose_by_name(const std::string& name, const compositing::Tuning& asked, int positions);

/// The ways to do a task that have what is asked of the tuning. Throws InvalidTask where none has.
std::vector<compositing::Way> ways_with(const compositing::Task& task,
                                        const compositing::Tuning& asked);

} // namespace sextant::planner
