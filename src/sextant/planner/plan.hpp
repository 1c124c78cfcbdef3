// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositing/catalogue.hpp"
#include "sextant/core/units.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::planner {

/// A way to do the task that was weighed.
struct Alternative {
    /// What a model says it would take.
    struct Expected {
        Seconds seconds = 0, low = 0, high = 0;
    };
    compositing::Way way;
    std::optional<Seconds> bound;     ///< predicted of a rank alone, see alone.hpp
    std::optional<Expected> expected; ///< of all ranks together, where that was predicted
    std::optional<Seconds> raced;     ///< the median of its frames, where it was raced (race.hpp)
    std::string remark;
};

/// What was chosen for a compositing task, and why.
struct Plan {
    const compositing::Algorithm* algorithm = nullptr;
    compositing::Tuning tuning;
    bool sparse = false; ///< whether messages leave out what was not drawn
    std::string reason;
    // Where it was predicted, on the rank that chose:
    std::string model, machine;
    std::vector<Alternative> alternatives; ///< the chosen first, then as good as they are
    std::size_t rivals = 1;                ///< how many of them may be as fast as the chosen

    /// "radix-k, radices 8,4, sparse".
    std::string text() const;
    /// What it is predicted to take, on the rank that chose.
    std::optional<Seconds> expected() const;
    compositing::Way way() const { return {algorithm, tuning}; }
    void take(const compositing::Way& way);
};

/// A plan as JSON, and back; docs/json.md has the fields. What was weighed is written, and not
/// read.
std::string to_json(const Plan& plan);
/// Throws InvalidFile naming the field: no JSON, a newer version, missing or wrong fields, an
/// algorithm that does not exist.
Plan parse_plan(std::string_view text, const std::string& path);
/// The same from a file.
Plan read_plan(const std::string& path);

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
