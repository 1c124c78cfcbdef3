// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/planner/predictor.hpp"

#include "sextant/planner/alone.hpp"
#include "sextant/planner/richest_model.hpp"

#include <utility>
#include <vector>

namespace sextant::planner {

void Predictor::find_model(const Program& program, int rank, std::string_view what) {
    model_ = &richest_model(setting_.model, what,
                            [&](const model::Model& model) { single(model, program, rank); });
}

model::Question Predictor::question(const Schedule& schedule, std::span<const int> nodes) const {
    model::Question question{.schedule = schedule, .machine = setting_.machine};
    question.element_size = setting_.element_size;
    question.operator_name = setting_.operator_name;
    question.element_name = setting_.element_name;
    question.folds_at_once = setting_.folds_at_once;
    question.kernels = setting_.kernels;
    question.nodes = nodes;
    question.within_node = setting_.within_node;
    question.density = setting_.density;
    question.coded = setting_.coded;
    question.timeline = setting_.timeline;
    return question;
}

Seconds Predictor::seconds(const model::Model& model, Program program, int rank, bool least) const {
    const Alone alone = planner::alone(std::move(program), rank);
    std::vector<int> nodes;
    for (const int r : alone.ranks) {
        if (!setting_.nodes.empty())
            nodes.push_back(setting_.nodes[static_cast<std::size_t>(r)]);
        else if (setting_.wires)
            nodes.push_back(r);
    }
    model::Question question = this->question(alone.schedule, nodes);
    question.wires = least ? setting_.wires : nullptr;
    question.least = least;
    return model.predict(question).seconds;
}

Predictor::Single Predictor::single(const model::Model& model, Program program, int rank) const {
    const Seconds bound = seconds(model, program, rank, true);
    if (setting_.within_node == machine::Link::same_process)
        program = without_loans(std::move(program), setting_.element_size);
    return {bound, seconds(model, std::move(program), rank, false)};
}

model::Prediction Predictor::whole(const Candidate& candidate) const {
    std::span<const int> nodes = setting_.nodes;
    if (!nodes.empty())
        nodes = nodes.first(static_cast<std::size_t>(candidate.ranks));
    const Schedule schedule = make_schedule(candidate.ranks, candidate.program);
    model::Question question = this->question(schedule, nodes);
    question.wires = setting_.wires;
    model::Prediction whole = model_->predict(question);
    for (Seconds* time : {&whole.seconds, &whole.low, &whole.high})
        *time += candidate.before;
    return whole;
}

} // namespace sextant::planner
