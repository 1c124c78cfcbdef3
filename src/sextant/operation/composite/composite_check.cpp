// SPDX-License-Identifier: BSD-3-Clause
// What `sextant composite` can know to go wrong before it reads a pixel.
#include "sextant/operation/composite/composite_run.hpp"
#include "sextant/operation/composite/phases.hpp"
#include "sextant/operation/outputs.hpp"
#include "sextant/operation/schedules/tuning.hpp"
#include "sextant/planner/plan.hpp"

#include <array>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

namespace sextant::operation {

namespace {

constexpr std::array<std::string_view, 5> phase_names = {"read", "plan", "composite", "again",
                                                         "write"};

/// What is asked for beside a plan is what the plan says.
void require_of_plan(const Values& values) {
    const std::string path = values.text("plan");
    const planner::Plan plan = planner::read_plan(path);
    const compositing::Tuning asked = tuning_from(values);
    const auto require = [&](const char* name, bool same) {
        if (values.given(name) && values.text(name) != "auto" && !same)
            throw InvalidTask(fmt::format("--{} {}: {} has {}; leave out one of them", name,
                                          values.text(name), path, plan.text()));
    };
    require("algorithm", plan.algorithm->name == values.text("algorithm"));
    require("radices", plan.tuning.radices == asked.radices);
    require("window", plan.tuning.window == asked.window);
    require("segments", plan.tuning.segments == asked.segments);
    require("sparse", plan.sparse == (values.text("sparse") == "on"));
    require("interlace", (plan.tuning.interlace > 0) == (values.text("interlace") == "on"));
}

} // namespace

/// All that can be known to go wrong before anything is read. Only rank 0 writes.
void CompositeRun::check() {
    summary_.phases = phases_before(values_.text("before"), phase_names);
    check_picture_name(values_.text("output"));
    saves_plan_ = values_.has("plan") && !std::filesystem::exists(values_.text("plan"));
    if (values_.has("plan") && !saves_plan_)
        require_of_plan(values_);
    if (tells())
        check_outputs(outputs(), values_.text("trace"));
}

std::vector<std::string> CompositeRun::outputs() const {
    std::vector<std::string> paths = files_given(values_, {"output", "json", "report", "trace"});
    if (saves_plan_)
        paths.push_back(values_.text("plan"));
    return paths;
}

/// Once it is known what a manifest names.
void CompositeRun::check_inputs_kept() const {
    std::vector<std::string> read = inputs_->paths;
    for (const std::string& name : values_.texts("inputs"))
        read.push_back(name);
    for (const std::string& name : files_given(values_, {"machine", "plan"}))
        read.push_back(name);
    keep_inputs(read, outputs());
}

} // namespace sextant::operation
