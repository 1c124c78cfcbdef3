// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/node_sharing.hpp"
#include "sextant/core/image.hpp"
#include "sextant/model/model.hpp"
#include "sextant/planner/compositing_plan.hpp"
#include "sextant/report/recording.hpp"
#include "sextant/schedule/trace.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sextant::command {

/// Parameters and results of a composite run, for reports.
struct CompositeSummary {
    struct Phase {
        std::string name;
        Seconds seconds = 0;
    };
    std::vector<std::string> inputs; ///< front to back
    std::string output;
    ImageShape shape;
    int ranks = 1;
    std::string transport; ///< "threads", or the MPI
    NodeSharingChoice sharing;
    std::string blend, element, association, background;
    Bytes element_size = 0;
    planner::CompositingPlan plan;
    compositing::Task task;
    std::vector<Phase> phases;
    std::vector<std::string> warnings;
    Trace trace;                                 ///< of all ranks, if traced
    int clocks = 1;                              ///< number of clocks its times were taken with
    std::vector<ClockOffset> aligned;            ///< how the clocks were aligned
    std::string frame;                           ///< which frame was traced: "the second frame"
    std::optional<model::Prediction> prediction; ///< of such a frame, with its timeline
};

/// A page for more ranks draws no schedule, and has a note instead.
inline constexpr int most_ranks_drawn = 64;

/// The measured run, to be written or compared.
report::Recording measured(const CompositeSummary& summary);

/// A few lines for the terminal.
std::string to_text(const CompositeSummary& summary);

/// One JSON object; docs/json.md describes its fields.
std::string to_json(const CompositeSummary& summary);

/// A self-contained HTML page: the composited image, the plan and its reason, the time of each
/// phase, the schedule.
std::string to_page(const CompositeSummary& summary, const Image& picture);

} // namespace sextant::command
