// SPDX-License-Identifier: BSD-3-Clause
// How a run of a filter comes to its plan.
#include "sextant/calibrate/planner_here.hpp"
#include "sextant/comm/agree.hpp"
#include "sextant/comm/hosts.hpp"
#include "sextant/comm/texts.hpp"
#include "sextant/core/error.hpp"
#include "sextant/operation/filter/filter_run.hpp"
#include "sextant/operation/planning_options.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace sextant::operation {

namespace {

/// What filters take; what another is becomes floats.
const ElementFormat filtered_elements[] = {gray_f32, gray_u8, gray_u16};

/// Of reading and filtering, at rank 0; nothing where the profile does not know what filters take.
std::optional<Seconds> expected(const FilterPlan& plan) {
    if (!plan.predicted)
        return std::nullopt;
    return plan.predicted->seconds + plan.predicted->read.value_or(0);
}

} // namespace

void FilterRun::offer_sharing() {
    OfferedSharing offered = sextant::offer_sharing(values_.text("shared-memory"), communicator_);
    shared_ = std::move(offered.shared);
    summary_.sharing = std::move(offered.choice);
    warn({offered.warning});
}

/// Rank 0 decides, and tells the others. Where it is open whether nodes share memory, what is
/// predicted to be faster.
void FilterRun::plan() {
    progress_.say("plan");
    const std::vector<int> nodes = nodes_of(communicator_);
    plan_on(filters_on(), nodes);
    if (shared_ && !summary_.sharing.settled) {
        const FilterPlan in_memory = summary_.plan;
        const bool shares_all = summary_.task.shares_memory;
        plan_on(communicator_, nodes);
        summary_.sharing =
            choose_sharing(communicator_, expected(in_memory), expected(summary_.plan));
        if (summary_.sharing.shares) {
            summary_.plan = in_memory;
            summary_.task.shares_memory = shares_all;
        } else {
            shared_.reset();
        }
    }
    tell_plan();
}

void FilterRun::plan_on(const Communicator& communicator, const std::vector<int>& nodes) {
    summary_.task.shares_memory = reads_all(communicator, nodes);
    const planner::UsualPlanner usual =
        calibrate::planner_here(communicator, nodes, values_.text("machine"), probing_of(values_));
    agree(communicator_, [&] {
        if (tells())
            summary_.plan = planned(nodes, usual);
    });
}

/// What all must know: the image, and how it is filtered.
void FilterRun::tell_plan() {
    struct Told {
        ImageShape image;
        int element;
    };
    FilterTask& task = summary_.task;
    const auto kind =
        std::find(std::begin(filtered_elements), std::end(filtered_elements), task.element);
    const Told told =
        communicator_.all_gather(Told{task.image, static_cast<int>(kind - filtered_elements)})[0];
    task.image = told.image;
    task.element = filtered_elements[told.element];
    FilterPlan bare = summary_.plan;
    bare.alternatives.clear();
    const std::string plan = all_gather_texts(communicator_, tells() ? to_json(bare) : "").front();
    if (!tells())
        summary_.plan = parse_filter_plan(plan, "the plan of rank 0", task);
}

FilterPlan FilterRun::planned(const std::vector<int>& nodes, const planner::UsualPlanner& usual) {
    const FilterTask& task = summary_.task;
    warn(usual.warnings);
    const planner::Setting setting{.machine = usual.planner->machine(),
                                   .element_size = gray_f32.size,
                                   .nodes = nodes,
                                   .within_node = task.shares_memory ? machine::Link::same_process
                                                                     : machine::Link::same_node};
    FilterPlan plan;
    if (values_.has("plan") && !saves_plan_) {
        plan = read_filter_plan(values_.text("plan"), task);
        if (values_.has("grid") && (plan.way.columns != task.columns || plan.way.rows != task.rows))
            throw InvalidTask(fmt::format("--grid {}: {} has {}x{} tiles; leave out one of them",
                                          values_.text("grid"), values_.text("plan"),
                                          plan.way.columns, plan.way.rows));
    } else {
        plan = usual_filter_plan(task, setting);
        set_window(plan, task, values_.integer("memory") << 20);
    }
    predict_windows(plan, task, setting);
    return plan;
}

} // namespace sextant::operation
