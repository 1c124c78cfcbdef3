// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/node_sharing.hpp"
#include "sextant/command/options.hpp"
#include "sextant/compositor/compositor.hpp"
#include "sextant/core/element.hpp"
#include "sextant/core/image.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/model/model.hpp"
#include "sextant/planner/compositing_plan.hpp"
#include "sextant/report/recording.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sextant::command {

/// The options of `sextant composite`.
struct CompositeCommand {
    std::vector<std::string> inputs; ///< image files, or one manifest
    std::string output;
    CompositeOptions composite = {.blend = "auto", .probing = planner::Probing::now};
    std::string element = "f32"; ///< pixel element type of colours
    std::vector<int> order;      ///< image indices, front to back; if empty, 0, 1, 2 ...
    std::optional<std::int64_t> ranks;
    std::string shared_memory = "auto";
    bool race = false;
    Reports reports;
    std::string trace;
};
Record record_of(CompositeCommand& command);
Effects effects_of(CompositeCommand& command);

/// Returns the compositor options for images of a format. Throws InvalidTask if options contradict
/// each other or the format.
CompositeOptions options_for(const CompositeCommand& command, const ElementFormat& element);

/// Returns the element format for "f32", "f16" or "u8", with depth if operator `blend` needs depth.
/// Throws InvalidTask for other names and unknown operators.
ElementFormat element_named(const std::string& name, const std::string& blend);

/// The partial images that the user specified, in visibility order.
struct Inputs {
    std::vector<std::string> paths; ///< front to back
    format::ImageHeader header; ///< header of the first image; all images must have the same shape
    bool from_manifest = false;
};

/// Finds the images with the given names: image files, or one manifest. If `order` is not empty, it
/// lists the images front to back by their index in the names (or in the manifest). Throws
/// InvalidFile; throws InvalidTask if `order` is not a permutation.
Inputs find_inputs(const std::vector<std::string>& names, const std::vector<int>& order);

/// Unusual pixel values found in an image.
struct Oddity {
    std::string path;
    format::PixelCheck check;
};

/// Reads images [first, last) one after another into memory of the communicator. Converts pixels to
/// `element` with rounding (kernel::convert); drops depth if `element` has none. Throws
/// InvalidFile, naming both sizes, if the images differ in size.
Memory read_inputs(const Inputs& inputs, std::size_t first, std::size_t last,
                   const ElementFormat& element, const Communicator& communicator,
                   std::vector<Oddity>& oddities);

/// Reads deep images [first, last). Throws InvalidFile as read_inputs() does, if an image is not
/// deep, or (naming the pixel and the depths) if fragments are not ordered by depth.
std::vector<DeepImage> read_deep_inputs(const Inputs& inputs, std::size_t first, std::size_t last);

/// Parameters and results of a composite run, for reports.
struct CompositeSummary {
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
    std::vector<report::Phase> phases;
    std::vector<std::string> warnings;
    Trace trace;                                 ///< events of all ranks, if traced
    int clocks = 1;                              ///< number of clocks that measured the trace
    std::vector<ClockOffset> aligned;            ///< how the clocks were aligned
    std::string frame;                           ///< the traced frame, such as "the second frame"
    std::optional<model::Prediction> prediction; ///< for the traced frame, with a timeline
};

/// The maximum number of ranks for which a page contains a drawing of the schedule; with more
/// ranks, the page has a note instead.
inline constexpr int most_ranks_drawn = 64;

/// Returns the measured run as a recording, for a trace file or a comparison.
report::Recording measured(const CompositeSummary& summary);

/// Returns a summary of a few lines for the terminal.
std::string to_text(const CompositeSummary& summary);

/// Returns one JSON object; docs/json.md describes its fields.
std::string to_json(const CompositeSummary& summary);

/// Returns a self-contained HTML page: the composited image, the plan and the reason for it, the
/// time of each phase, the schedule.
std::string to_page(const CompositeSummary& summary, const Image& picture);

} // namespace sextant::command
