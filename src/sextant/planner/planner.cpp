// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/planner/planner.hpp"

#include "sextant/planner/asked.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::planner {

namespace {

/// All that a plan depends on.
std::string key(const compositing::Task& task, const Work& work, const compositing::Tuning& asked) {
    return fmt::format(
        "{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", task.ranks, task.elements,
        fmt::join(task.order, ","), fmt::join(task.layers, ","), task.root, work.operator_name,
        work.element_name, work.element_size, work.folds_at_once, fmt::join(work.nodes, ","),
        static_cast<int>(work.within_node), work.model, fmt::join(asked.radices, ","), asked.window,
        asked.segments, asked.interlace, work.density, static_cast<int>(work.sparse));
}

/// A code is hardly ever worth writing for less.
constexpr double most_worth_coding = .75;

/// Between threads nothing is moved that could be less.
bool may_be_sparse(const Work& work) {
    return work.sparse != Sparse::off && work.density <= most_worth_coding &&
           work.within_node != machine::Link::same_process;
}

/// The faster of two plans, and why.
Plan faster(Plan dense, Plan sparse, double density) {
    const auto& d = dense.alternatives.front().expected;
    const auto& s = sparse.alternatives.front().expected;
    const bool wins = d && s && s->seconds < d->seconds;
    Plan& best = wins ? sparse : dense;
    if (d && s)
        best.reason += fmt::format("; {:.0f} % drawn: sparse {:.3g} ms, dense {:.3g} ms",
                                   density * 100, s->seconds * 1e3, d->seconds * 1e3);
    return best;
}

Alternative alternative(const Weighed& weighed, const std::vector<compositing::Way>& ways) {
    Alternative made{ways[weighed.candidate], weighed.bound, {}, {}, weighed.remark};
    if (const auto& p = weighed.predicted)
        made.expected = {p->seconds, p->low, p->high};
    return made;
}

/// Of an image. A message within a node is a copy, and to find out what to leave out costs half of
/// one (docs/measurements.md).
constexpr double worth_coding_on_a_node = .25;

} // namespace

bool sparse_by_rule(const Work& work) {
    if (work.sparse == Sparse::on)
        return true;
    const bool one_node = std::adjacent_find(work.nodes.begin(), work.nodes.end(),
                                             std::not_equal_to<>()) == work.nodes.end();
    return may_be_sparse(work) && (!one_node || work.density <= worth_coding_on_a_node);
}

Plan Planner::plan(const compositing::Task& task, const Work& work,
                   const compositing::Tuning& asked) {
    const std::string question = key(task, work, asked);
    {
        const std::lock_guard lock(mutex_);
        if (const auto found = known_.find(question); found != known_.end())
            return found->second;
    }
    Plan plan = predict(task, work, asked);
    const std::lock_guard lock(mutex_);
    return known_.emplace(question, std::move(plan)).first->second;
}

Setting Planner::setting(const Work& work, bool sparse) const {
    return {.machine = machine_,
            .element_size = work.element_size,
            .operator_name = work.operator_name,
            .element_name = work.element_name,
            .folds_at_once = work.folds_at_once,
            .nodes = work.nodes,
            .wires = wires_ ? &*wires_ : nullptr,
            .within_node = work.within_node,
            .density = sparse ? work.density : 1,
            .coded = sparse,
            .model = work.model};
}

std::optional<model::Prediction> Planner::predict(const compositing::Task& task,
                                                  const compositing::Way& way,
                                                  const Setting& setting) const {
    const Candidate candidate = compositing::candidate(task, way);
    try {
        return choose(std::span(&candidate, 1), setting).chosen().predicted;
    } catch (const model::CannotExpress&) {
        return std::nullopt; // said by the absence of a value
    }
}

std::optional<Seconds> Planner::seconds(const compositing::Task& task, const compositing::Way& way,
                                        const Work& work) const {
    const auto predicted = predict(task, way, setting(work, work.sparse == Sparse::on));
    return predicted ? std::optional(predicted->seconds) : std::nullopt;
}

std::optional<model::Prediction> Planner::prediction(const compositing::Task& task,
                                                     const compositing::Way& way,
                                                     const Work& work) const {
    Setting with_timeline = setting(work, work.sparse == Sparse::on);
    with_timeline.timeline = true;
    return predict(task, way, with_timeline);
}

Plan Planner::predict(const compositing::Task& task, const Work& work,
                      const compositing::Tuning& asked) const {
    if (work.sparse == Sparse::on)
        return predict(task, work, asked, true);
    Plan dense = predict(task, work, asked, false);
    if (!may_be_sparse(work) || dense.alternatives.empty())
        return dense;
    return faster(std::move(dense), predict(task, work, asked, true), work.density);
}

Plan Planner::predict(const compositing::Task& task, const Work& work,
                      const compositing::Tuning& asked, bool sparse) const {
    const std::vector<compositing::Way> ways = ways_with(task, asked);
    Plan plan;
    plan.machine = machine_.name;
    plan.sparse = sparse;
    if (task.positions() < 2) {
        plan.take(ways.front());
        plan.reason = "nothing to choose: fewer than two ranks hold images";
        return plan;
    }
    std::vector<Candidate> candidates;
    for (const compositing::Way& way : ways)
        candidates.push_back(compositing::candidate(task, way));
    const Choice choice = choose(candidates, setting(work, sparse));
    for (const Weighed& weighed : choice.ranking)
        plan.alternatives.push_back(alternative(weighed, ways));
    plan.take(plan.alternatives.front().way);
    plan.reason = choice.reason;
    plan.model = choice.model;
    plan.rivals = choice.rivals;
    return plan;
}

} // namespace sextant::planner
