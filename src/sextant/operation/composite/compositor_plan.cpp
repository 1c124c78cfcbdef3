// SPDX-License-Identifier: BSD-3-Clause
// How a compositor comes to its plan.
#include "sextant/calibrate/staleness.hpp"
#include "sextant/calibrate/this_machine.hpp"
#include "sextant/comm/agree.hpp"
#include "sextant/comm/hosts.hpp"
#include "sextant/comm/texts.hpp"
#include "sextant/core/error.hpp"
#include "sextant/operation/composite/compositor.hpp"
#include "sextant/operation/node_sharing.hpp"
#include "sextant/planner/asked.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant {

namespace {

/// A profile of another machine, or of another MPI, still plans, but its figures are not ours.
void warn_of_other_machine(const planner::UsualPlanner& usual, std::vector<std::string>& warnings) {
    if (usual.path.empty())
        return; // built in, and says so
    const machine::Profile& profile = usual.planner->machine();
    const std::vector<std::string> differences =
        calibrate::differences(profile, calibrate::describe_machine(profile.transport));
    if (!differences.empty()) {
        warnings.push_back(fmt::format("{} is not of this machine: {}; sextant calibrate measures "
                                       "it",
                                       usual.path, fmt::join(differences, "; ")));
    }
}

} // namespace

/// What is asked for by name every rank knows; else rank 0 chooses, and tells.
planner::Plan Compositor::decide() {
    const compositing::Tuning asked{options_.radices, options_.window, options_.segments};
    planner::Plan plan;
    const std::vector<int> nodes = nodes_of(communicator_);
    if (options_.algorithm != "auto" && options_.plan.empty()) {
        agree(communicator_, [&] {
            plan =
                planner::choose_by_name(options_.algorithm, asked, std::max(1, task_.positions()));
            plan.sparse = planner::sparse_by_rule(work(nodes));
        });
        return plan;
    }
    agree(communicator_, [&] {
        if (rank_ == 0)
            plan = choose(nodes);
    });
    return told(plan);
}

/// Rank 0's plan on every rank; what it weighed stays there.
planner::Plan Compositor::told(const planner::Plan& own) const {
    std::string text;
    if (rank_ == 0) {
        planner::Plan bare = own;
        bare.alternatives.clear();
        text = planner::to_json(bare);
    }
    text = all_gather_texts(communicator_, text).front();
    return rank_ == 0 ? own : planner::parse_plan(text, "the plan of rank 0");
}

planner::Plan Compositor::choose(const std::vector<int>& nodes) {
    const compositing::Tuning asked{options_.radices, options_.window, options_.segments};
    const int positions = std::max(1, task_.positions());
    if (!options_.plan.empty() && std::filesystem::exists(options_.plan)) {
        planner::Plan saved = planner::read_plan(options_.plan);
        planner::choose_by_name(std::string(saved.algorithm->name), saved.tuning, positions);
        return saved;
    }
    if (options_.algorithm != "auto") {
        planner::Plan named = planner::choose_by_name(options_.algorithm, asked, positions);
        named.sparse = planner::sparse_by_rule(work(nodes));
        return named;
    }
    const planner::UsualPlanner usual = usual_planner(nodes);
    warnings_ = usual.warnings;
    warn_of_other_machine(usual, warnings_);
    return planner::plan_or_built_in(usual, task_, work(nodes), asked, warnings_);
}

planner::UsualPlanner Compositor::usual_planner(const std::vector<int>& nodes) const {
    return planner::usual_planner(operation::reads_all(communicator_, nodes) ? "threads" : "mpi",
                                  options_.machine);
}

/// Where messages replace memory that is not to be had, somebody should know, once.
void Compositor::warn_of_shortage() {
    const std::string shortage = operation::shortage_of(communicator_);
    if (rank_ == 0 && !shortage.empty())
        warnings_.push_back(shortage);
}

planner::Work Compositor::work(const std::vector<int>& nodes) const {
    return {.operator_name = std::string(operator_->name),
            .element_name = std::string(channels(operator_->element)),
            .element_size = operator_->element.size,
            .folds_at_once =
                options_.association == Association::in_order && !operator_->exact_when_split,
            .nodes = nodes,
            .within_node = operation::reads_all(communicator_, nodes) ? machine::Link::same_process
                                                                      : machine::Link::same_node,
            .density = options_.density,
            .sparse = options_.sparse};
}

std::optional<model::Prediction> Compositor::prediction() const {
    const std::vector<int> nodes = nodes_of(communicator_);
    if (rank_ != 0 || task_.positions() < 2)
        return std::nullopt;
    planner::Work as_planned = work(nodes);
    as_planned.sparse = plan().sparse ? planner::Sparse::on : planner::Sparse::off;
    return usual_planner(nodes).planner->prediction(task_, plan().way(), as_planned);
}

} // namespace sextant
