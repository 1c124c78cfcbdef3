// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/collectives/collective.hpp"
#include "sextant/command/schedules/placement.hpp"
#include "sextant/planner/plan.hpp"
#include "sextant/registration/transform/array_alignment.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// The candidates of operations whose time is not that of one schedule (`sextant explain`).
namespace sextant::command {

/// A configuration in words.
struct NamedConfiguration {
    std::string name;
    std::string text() const { return name; }
};
using NamedPlan = planner::Plan<NamedConfiguration>;

/// What is planned, and what the predictions assume.
struct Explained {
    std::string question;
    NamedPlan plan;
    std::vector<std::string> assumptions;
};

/// An operation to plan; each operation uses some of the fields.
struct PlannedTask {
    std::string what;              ///< the command
    std::string program;           ///< the shell command that starts this program
    std::optional<double> density; ///< fraction of samples that are not 0
    Elements width = 1024, height = 1024;
    std::optional<std::int64_t> depth; ///< planes of a volume
    std::int64_t frames = 100;
    int cores = 8; ///< for ranks and threads
    registration::AlignBy by = registration::AlignBy::bilinear;
    CollectiveKind kind = CollectiveKind::all_reduce;
    Elements count = 1 << 20; ///< elements, as in CollectiveTask::counts
    Bytes element_size = 4;
    CollectiveOptions collective;

    bool moves_frames() const { return what == "apply" || what == "register"; }
    Elements samples() const {
        return width * height * (moves_frames() ? frames : depth.value_or(1));
    }
};

// Each function throws InvalidTask, and model::CannotExpress if no candidate can be described.
Explained explain_collective(const PlannedTask& task, const std::optional<Operator>& op, int ranks,
                             const planner::Setting& setting);
Explained explain_label(const PlannedTask& task, const planner::Setting& setting);
Explained explain_contours(const PlannedTask& task, const planner::Setting& setting);
Explained explain_apply(const PlannedTask& task, const planner::Setting& setting);
Explained explain_register(const PlannedTask& task);

} // namespace sextant::command
