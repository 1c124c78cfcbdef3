// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/planner/predictor.hpp"

#include "sextant/schedule/loans.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sextant::planner {

namespace {

/// The models to try, from the most detailed to the simplest.
constexpr std::array<std::string_view, 4> models_by_wealth = {"p3pc-extended", "loggp", "hockney",
                                                              "c3"};

} // namespace

const model::Model& richest_model(const std::string& requested, std::string_view what,
                                  const std::function<void(const model::Model&)>& predict) {
    if (!requested.empty())
        return model::find(requested);
    std::string refusals;
    for (const std::string_view name : models_by_wealth) {
        const model::Model& model = model::find(name);
        try {
            predict(model);
            return model;
        } catch (const model::CannotExpress& why) {
            refusals += fmt::format("{} {}: {}", refusals.empty() ? "" : ";", name, why.what());
        }
    }
    throw model::CannotExpress(
        fmt::format("no available cost model can predict the time of {}:{}", what, refusals));
}

namespace {

/// Builds the programs of a program's peers, which contain only the peers' sides of its messages.
class Peers {
  public:
    explicit Peers(const Program& program) {
        for (const Step& step : program.steps) {
            if (is_message(step.verb))
                answer(program, step);
        }
    }

    /// Returns the schedule of `program` and its peers; peer i becomes rank i + 1.
    SingleRank with(Program program, int rank) && {
        SingleRank alone{{std::move(program)}, {rank}};
        for (Step& step : alone.schedule[0].steps) {
            if (is_message(step.verb))
                step.peer = static_cast<int>(number_.at(step.peer)) + 1;
        }
        for (Program& peer : programs_)
            alone.schedule.push_back(std::move(peer));
        alone.ranks.insert(alone.ranks.end(), ranks_.begin(), ranks_.end());
        return alone;
    }

  private:
    void answer(const Program& program, const Step& step) {
        Program& peer = program_of(step.peer);
        const bool sends = step.verb == Verb::receive;
        const auto own = static_cast<std::size_t>(program.regions_of(step)[0].buffer);
        const int number =
            buffer_of(peer, sends ? Role::input : Role::output, program.buffers[own].element);
        BufferSpec& buffer = peer.buffers[static_cast<std::size_t>(number)];
        const Elements elements = program.elements_of(step);
        Step mirrored = step;
        mirrored.verb = sends ? Verb::send : Verb::receive;
        mirrored.peer = 0;
        mirrored.first = static_cast<std::uint32_t>(peer.regions.size());
        mirrored.count = 1;
        peer.regions.push_back(block(number, buffer.size, elements));
        peer.steps.push_back(mirrored);
        buffer.size += elements;
    }

    /// Returns the peer's buffer with this role and element size; adds it if there is none.
    static int buffer_of(Program& peer, Role role, Bytes element) {
        const auto found =
            std::find_if(peer.buffers.begin(), peer.buffers.end(), [&](const BufferSpec& b) {
                return b.role == role && b.element == element;
            });
        if (found != peer.buffers.end())
            return static_cast<int>(found - peer.buffers.begin());
        peer.buffers.push_back({role, 0, element});
        return static_cast<int>(peer.buffers.size()) - 1;
    }

    Program& program_of(int rank) {
        const auto [at, is_new] = number_.try_emplace(rank, programs_.size());
        if (is_new) {
            ranks_.push_back(rank);
            programs_.push_back({});
        }
        return programs_[at->second];
    }

    std::map<int, std::size_t> number_;
    std::vector<int> ranks_;
    std::vector<Program> programs_;
};

} // namespace

Program without_loans(Program program, Bytes usual) {
    const Dependences dependences(program);
    const Loans loans(program, dependences);
    std::vector<Step> steps;
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
        const Step& step = program.steps[i];
        const int number = static_cast<int>(i);
        const bool lent = step.verb == Verb::send && loans.may_lend(number);
        const bool made_here =
            loans.uses(number).empty() && is_room(program, dependences, number, usual, least_room);
        if (!lent && !made_here)
            steps.push_back(step);
    }
    program.steps = std::move(steps);
    return program;
}

SingleRank alone(Program program, int rank) {
    Peers peers(program);
    return std::move(peers).with(std::move(program), rank);
}

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

Seconds Predictor::seconds(const model::Model& model, const SingleRank& alone, bool least) const {
    std::vector<int> nodes;
    for (const int r : alone.ranks) {
        if (!setting_.nodes.empty())
            nodes.push_back(setting_.nodes[static_cast<std::size_t>(r)]);
    }
    model::Question question = this->question(alone.schedule, nodes);
    machine::Wires wires;
    if (least && setting_.wires) {
        wires = *setting_.wires;
        wires.route = [&](int from, int to, std::vector<int>& path) {
            setting_.wires->route(alone.ranks[static_cast<std::size_t>(from)],
                                  alone.ranks[static_cast<std::size_t>(to)], path);
        };
        question.wires = &wires;
    }
    question.least = least;
    return model.predict(question).seconds;
}

Predictor::Single Predictor::single(const model::Model& model, Program program, int rank) const {
    if (setting_.within_node != machine::Link::same_process) {
        const SingleRank alone = planner::alone(std::move(program), rank);
        return {seconds(model, alone, true), seconds(model, alone, false)};
    }
    const Seconds bound = seconds(model, planner::alone(program, rank), true);
    program = without_loans(std::move(program), setting_.element_size);
    return {bound, seconds(model, planner::alone(std::move(program), rank), false)};
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
