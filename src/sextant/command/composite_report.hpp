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
    std::string transport; ///< "threads", or the MPI library
    NodeSharingChoice sharing;
    std::string blend, element, association, background;
    Bytes element_size = 0;
    planner::CompositingPlan plan;
    compositing::Task task;
    std::vector<Phase> phases;
    std::vector<std::string> warnings;
    Trace trace;                                 ///< events of all ranks, if traced
    int clocks = 1;                              ///< number of clocks that measured the trace
    std::vector<ClockOffset> aligned;            ///< how the clocks were aligned
    std::string frame;                           ///< the traced frame, such as "the second frame"
    std::optional<model::Prediction> prediction; ///< for the traced frame, with a timeline
};

/// The greatest number of ranks for which a page has a drawing of the schedule; with more ranks it
/// has a note instead.
inline constexpr int most_ranks_drawn = 64;

/// The measured run, for a trace file or a comparison.
report::Recording measured(const CompositeSummary& summary);

/// A summary of a few lines for the terminal.
std::string to_text(const CompositeSummary& summary);

/// One JSON object; docs/json.md describes its fields.
std::string to_json(const CompositeSummary& summary);

/// A self-contained HTML page: the composited image, the plan and its reason, the time of each
/// phase, the schedule.
std::string to_page(const CompositeSummary& summary, const Image& picture);

} // namespace sextant::command
