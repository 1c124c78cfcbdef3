// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositing/catalogue.hpp"

#include <string>
#include <vector>

namespace sextant::planner {

/// What was chosen for a compositing task, and why.
struct Plan {
    const compositing::Algorithm* algorithm = nullptr;
    compositing::Tuning tuning;
    std::string reason;

    /// "radix-k, radices 8,4".
    std::string text() const;
};

/// `auto`: a rule, stated and not predicted. Ranks that share memory: Direct-Send, blended in one
/// pass over all peers. Over messages: up to 8 positions Direct-Send; more: Radix-k with factors of
/// 8 at most, largest first; a prime, or a number with a larger prime factor: Shift-Based.
Plan choose_by_rule(int positions, bool shares_memory);

/// The radices of the rule; empty where a prime factor is larger than 8.
std::vector<int> largest_first_radices(int positions);

/// Whether an algorithm has what a tuning sets.
bool takes(const compositing::Algorithm& algorithm, const compositing::Tuning& asked);

/// What was asked for by name; what `asked` leaves open is as usual for the algorithm.
/// Throws InvalidTask: an unknown name, radices or a window for an algorithm that has none, radices
/// that do not multiply to the positions, a number of positions that the algorithm does not take.
Plan choose_by_name(const std::string& name, const compositing::Tuning& asked, int positions);

/// By the rule where `name` is "auto" and nothing is asked of the tuning, else by name: "auto" with
/// radices is Radix-k, with a window Shift-Based. Throws as choose_by_name.
Plan choose(const std::string& name, const compositing::Tuning& asked, int positions,
            bool shares_memory);

} // namespace sextant::planner
