// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositing/ways.hpp"
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

} // namespace sextant::planner
