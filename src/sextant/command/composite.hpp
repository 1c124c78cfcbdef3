// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/options.hpp"
#include "sextant/compositor/compositor.hpp"
#include "sextant/core/element.hpp"

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

/// Compositor options for images of a format. Throws InvalidTask if options contradict each other
/// or the format.
CompositeOptions options_for(const CompositeCommand& command, const ElementFormat& element);

/// The element format for "f32", "f16" or "u8", with depth if operator `blend` needs it. Throws
/// InvalidTask for other names and unknown operators.
ElementFormat element_named(const std::string& name, const std::string& blend);

} // namespace sextant::command
