// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/composite/composite_options.hpp"

#include "sextant/calibrate/planner_here.hpp"
#include "sextant/core/deep_image.hpp"
#include "sextant/core/error.hpp"
#include "sextant/operation/composite/colour.hpp"
#include "sextant/operation/composite/element.hpp"
#include "sextant/operation/planning_options.hpp"
#include "sextant/operation/schedules/tuning.hpp"

#include <string>

#include <fmt/format.h>

namespace sextant::operation {

namespace {

/// As of a program that blends for a while: --race asks what would then be best.
constexpr int frames_of_a_race = 1000;

/// Deep images are merged by depth, and nothing else is.
std::string operator_for(const Values& values, const ElementFormat& element) {
    const std::string asked = values.text("operator");
    const bool deep = is_deep(element);
    if (asked == "auto")
        return deep ? "deep" : element == rgba_depth_f32 ? "nearest" : "over";
    if (deep && asked != "deep")
        throw InvalidTask(fmt::format("--operator {}: deep images take deep, or auto", asked));
    if (!deep && asked == "deep")
        throw InvalidTask("--operator deep: for deep images, these are flat");
    return asked;
}

planner::Interlace interlace_from(const Values& values) {
    const std::string when = values.text("interlace");
    return when == "on"    ? planner::Interlace::on
           : when == "off" ? planner::Interlace::off
                           : planner::Interlace::automatic;
}

} // namespace

CompositeOptions composite_options(const Values& values, const ElementFormat& element) {
    CompositeOptions options;
    options.algorithm = values.text("algorithm");
    const compositing::Tuning tuning = tuning_from(values);
    options.radices = tuning.radices;
    options.window = tuning.window;
    options.segments = tuning.segments;
    options.sparse = sparse_from(values);
    options.interlace = interlace_from(values);
    options.blend = operator_for(values, element);
    if (options.blend != "deep")
        options.element = element_named(values.text("element"), options.blend);
    if (values.has("background"))
        options.background = parse_colour(values.text("background"));
    if (values.text("association") == "by-arrival")
        options.association = Association::by_arrival;
    options.machine = values.text("machine");
    options.probing = probing_of(values);
    options.plan = values.text("plan");
    options.fold_threads = static_cast<int>(values.integer("fold-threads"));
    if (options.blend == "deep" && values.text("element") != "f32") {
        throw InvalidTask(
            fmt::format("--element {}: deep images are blended as f32", values.text("element")));
    }
    options.frames = values.flag("race") ? frames_of_a_race : 1;
    options.trace = values.has("trace") || values.has("report");
    return options;
}

} // namespace sextant::operation
