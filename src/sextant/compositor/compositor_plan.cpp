// SPDX-License-Identifier: BSD-3-Clause
// Compositor: choosing a plan.
#include "sextant/calibrate/planner_here.hpp"
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/comm/node_sharing.hpp"
#include "sextant/compositor/compositor_run.hpp"
#include "sextant/core/error.hpp"
#include "sextant/planner/compositing_plan.hpp"

#include <algorithm>
#include <filesystem>

namespace sextant {

namespace {

constexpr const char* interlacing_reason =
    "; interlaced to balance unevenly distributed active pixels among ranks";

/// True if one position blends the complete image, so that interlacing has no work to balance.
bool one_blends_all(const compositing::Configuration& configuration,
                    const compositing::Task& task) {
    for (int i = 0; i < task.positions(); ++i) {
        if (configuration.algorithm->piece(task, configuration.tuning, i).count == task.elements)
            return true;
    }
    return false;
}

} // namespace

/// True if interlacing balances active pixels enough to be faster; false if the active pixels of
/// some rank are unknown. The same on all ranks. Collective.
bool CompositorRun::reckon_interlacing() const {
    if (options_.interlace != planner::Interlace::automatic ||
        options_.sparse == planner::Sparse::off || task_.root == compositing::Task::distributed)
        return false;
    struct Said {
        bool known = false;
        planner::DrawnBands drawn{};
    };
    Said local{!options_.drawn.empty(), {}};
    std::copy(options_.drawn.begin(), options_.drawn.end(), local.drawn.begin());
    const std::vector<Said> all = communicator_.all_gather(local);
    std::vector<planner::DrawnBands> by_position;
    for (const int rank : task_.order) {
        const Said& said = all[static_cast<std::size_t>(rank)];
        if (!said.known)
            return false;
        by_position.push_back(said.drawn);
    }
    return planner::interlacing_pays(task_, by_position);
}

compositing::Tuning CompositorRun::requested(bool interlaced) const {
    return {options_.radices, options_.window,
            interlaced ? planner::interlaced_block(shape_.width) : 0};
}

planner::CompositingPlan CompositorRun::by_name(const std::vector<int>& nodes) const {
    const bool on = options_.interlace == planner::Interlace::on;
    planner::CompositingPlan plan =
        planner::choose_by_name(options_.algorithm, requested(on), std::max(1, task_.positions()));
    require_image_orders(plan.configuration);
    compositing::Configuration& configuration = plan.configuration;
    configuration.sparse = planner::sparse_by_rule(work(nodes));
    if (configuration.sparse && interlacing_pays_ && !one_blends_all(configuration, task_)) {
        configuration.tuning.interlace = requested(true).interlace;
        plan.reason += interlacing_reason;
    }
    return plan;
}

/// Decides on the plan. If the options name an algorithm, each rank makes the plan itself;
/// otherwise rank 0 chooses and broadcasts it. Collective.
planner::CompositingPlan CompositorRun::decide() {
    planner::CompositingPlan plan;
    if (nodes_.empty())
        nodes_ = nodes_of(communicator_);
    const std::vector<int>& nodes = nodes_;
    if (options_.algorithm != "auto" && options_.plan.empty()) {
        agree(communicator_, [&] { plan = by_name(nodes); });
        return plan;
    }
    if (communicator_.all_gather(static_cast<int>(predicts())).front() != 0 && !planner_)
        planner_ = planner_here(nodes);
    agree(communicator_, [&] {
        if (rank_ == 0)
            plan = choose(nodes, planner_.value_or(planner::DefaultPlanner{}));
    });
    return received_plan(plan);
}

/// True on rank 0 if the plan is chosen by prediction.
bool CompositorRun::predicts() const {
    const bool saved = !options_.plan.empty() && std::filesystem::exists(options_.plan);
    return rank_ == 0 && options_.algorithm == "auto" && !saved;
}

/// Broadcasts rank 0's plan; the alternatives stay on rank 0.
planner::CompositingPlan CompositorRun::received_plan(const planner::CompositingPlan& own) const {
    if (communicator_.size() == 1)
        return own;
    std::string text;
    if (rank_ == 0) {
        planner::CompositingPlan bare = own;
        bare.alternatives.clear();
        text = planner::to_json(bare);
    }
    text = all_gather_texts(communicator_, text).front();
    return rank_ == 0 ? own : planner::parse_plan(text, "the plan of rank 0");
}

planner::CompositingPlan CompositorRun::choose(const std::vector<int>& nodes,
                                               const planner::DefaultPlanner& usual) {
    const int positions = std::max(1, task_.positions());
    if (!options_.plan.empty() && std::filesystem::exists(options_.plan)) {
        planner::CompositingPlan saved = planner::read_plan(options_.plan);
        planner::choose_by_name(std::string(saved.configuration.algorithm->name),
                                saved.configuration.tuning, positions);
        require_image_orders(saved.configuration);
        return saved;
    }
    if (options_.algorithm != "auto")
        return by_name(nodes);
    warnings_ = usual.warnings;
    const bool on = options_.interlace == planner::Interlace::on;
    planner::CompositingPlan plan = for_image_orders(
        planner::plan_or_built_in(usual, task_, work(nodes), requested(on), warnings_));
    if (!plan.configuration.sparse || !interlacing_pays_)
        return plan;
    std::vector<std::string> said_before;
    planner::CompositingPlan with_interlacing = for_image_orders(
        planner::plan_or_built_in(usual, task_, work(nodes), requested(true), said_before));
    if (!with_interlacing.configuration.sparse ||
        one_blends_all(with_interlacing.configuration, task_))
        return plan;
    with_interlacing.reason += interlacing_reason;
    return with_interlacing;
}

/// Returns the planner. Does not probe the machine with fewer than two positions, because then
/// there is nothing to choose.
planner::DefaultPlanner CompositorRun::planner_here(const std::vector<int>& nodes) const {
    const bool nothing = task_.positions() < 2;
    const auto bytes = static_cast<double>(task_.elements * operator_->element.size);
    return calibrate::planner_here(communicator_, nodes, options_.machine,
                                   nothing ? planner::Probing::off : options_.probing,
                                   options_.frames * calibrate::work_on(bytes * task_.positions()));
}

/// Warns, on rank 0, if shared memory is too small and messages are used instead.
void CompositorRun::warn_of_shortage() {
    const std::string shortage = shortage_of(communicator_);
    if (rank_ == 0 && !shortage.empty())
        warnings_.push_back(shortage);
}

planner::Work CompositorRun::work(const std::vector<int>& nodes) const {
    return {.operator_name = std::string(operator_->name),
            .element_name = std::string(channels(operator_->element)),
            .element_size = operator_->element.size,
            .folds_at_once =
                options_.association == Association::in_order && !operator_->exact_when_split,
            .nodes = nodes,
            .within_node = reads_all(communicator_, nodes) ? machine::Link::same_process
                                                           : machine::Link::same_node,
            .density = options_.density,
            .sparse = options_.sparse};
}

std::optional<model::Prediction> CompositorRun::prediction() const {
    const std::vector<int> nodes = nodes_of(communicator_);
    const planner::DefaultPlanner usual = planner_here(nodes);
    if (rank_ != 0 || task_.positions() < 2)
        return std::nullopt;
    planner::Work as_planned = work(nodes);
    as_planned.sparse = plan().configuration.sparse ? planner::Sparse::on : planner::Sparse::off;
    return usual.planner->prediction(task_, plan().configuration, as_planned);
}

} // namespace sextant
