// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/lab/evaluate_simulated.hpp"

#include "sextant/comm/provenance.hpp"
#include "sextant/compositing/catalogue.hpp"
#include "sextant/core/progress.hpp"
#include "sextant/lab/evaluation.hpp"
#include "sextant/planner/planner.hpp"
#include "sextant/simulate/platform.hpp"
#include "sextant/simulate/simulation.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace sextant::lab {

std::vector<int> waves_of(const Program& program, const Dependences& dependences) {
    std::vector<int> waves(program.steps.size());
    // The highest wave of any local step so far. Receives have no dependences; their messages are
    // assumed to be sent in this wave.
    int worked = 0;
    for (std::size_t s = 0; s < waves.size(); ++s) {
        const Step& step = program.steps[s];
        if (is_message(step.verb)) {
            const int windows = program.window > 0 ? step.round / program.window : 0;
            waves[s] = std::max({waves[s], worked, windows});
        } else {
            worked = std::max(worked, waves[s]);
        }
        const int next = waves[s] + (step.verb == Verb::receive ? 1 : 0);
        for (const Dependences::Edge& edge : dependences.after(static_cast<int>(s)))
            waves[edge.step] = std::max(waves[edge.step], next);
    }
    return waves;
}

namespace {

constexpr Bytes pixel = 16;
constexpr ImageShape shapes[] = {{64, 64}, {256, 256}, {1024, 1024}, {4096, 2048}};

/// The maximum effort, which corresponds to a second or two. The run time of SimGrid grows with the
/// number of messages and with the number of messages in flight per rank; the effort is the sum,
/// over ranks and waves, of the squared number of messages sent.
constexpr double most_effort = 3e6;

double effort(const Schedule& schedule) {
    double effort = 0;
    for (const Program& program : schedule) {
        const std::vector<int> waves = waves_of(program, Dependences(program));
        std::map<int, double> sent;
        for (std::size_t s = 0; s < waves.size(); ++s) {
            if (program.steps[s].verb == Verb::send)
                ++sent[waves[s]];
        }
        for (const auto& [wave, count] : sent)
            effort += count * count;
    }
    return effort;
}

class Simulated {
  public:
    explicit Simulated(const SimulatedMachine& machine)
        : machine_(machine),
          platform_(simulate::read_platform(machine.platform)),
          cores_(simulate::place_on_cores(platform_.network, {}, machine.ranks, platform_.name)),
          planner_(simulate::profile_of(platform_), simulate::wires_of(platform_, cores_)) {
        work_.operator_name = "over";
        work_.element_name = "f32";
        work_.element_size = pixel;
        for (const int core : cores_)
            work_.nodes.push_back(core / platform_.network.cores);
    }

    Evaluation run() {
        Evaluation evaluation;
        evaluation.ranks = machine_.ranks;
        evaluation.cores = platform_.network.cores;
        evaluation.transport = "simulated";
        evaluation.host = evaluation.machine = platform_.name;
        evaluation.date = date();
        for (const ImageShape& shape : shapes)
            evaluation.cases.push_back(evaluate(shape));
        progress_.clear();
        return evaluation;
    }

  private:
    EvaluatedCase evaluate(const ImageShape& shape) {
        EvaluatedCase one;
        one.what.shape = shape;
        one.what.name = fmt::format("{} ranks of {}, {}x{}", machine_.ranks, platform_.name,
                                    shape.width, shape.height);
        progress_.say("planning for " + one.what.name);
        const auto task = compositing::one_image_each(machine_.ranks, shape.elements());
        const planner::CompositingPlan plan = planner_.plan(task, work_);
        one.chosen = plan.text();
        for (const compositing::Configuration& configuration : chosen_configurations(task, plan)) {
            progress_.say(configuration.text() + " on " + one.what.name);
            simulate(task, configuration, configuration == plan.configuration, one);
        }
        for (const auto& each : plan.alternatives)
            predict(each, one);
        return one;
    }

    /// Returns the configurations to simulate: the planner's choice, those of the policies, and
    /// others. Half of the others are the next in the planner's ranking; half are evenly spaced in
    /// the remaining catalogue, because the planner may be wrong.
    std::vector<compositing::Configuration>
    chosen_configurations(const compositing::Task& task,
                          const planner::CompositingPlan& plan) const {
        const std::vector<std::string> policies = configurations_of_policies(machine_.ranks, false);
        const auto most = static_cast<std::size_t>(machine_.configurations);
        std::vector<compositing::Configuration> others, taken;
        for (const compositing::Configuration& configuration : compositing::configurations(task)) {
            const bool policy =
                std::find(policies.begin(), policies.end(), configuration.text()) != policies.end();
            (policy || configuration == plan.configuration ? taken : others)
                .push_back(configuration);
        }
        const std::size_t always = taken.size();
        for (const auto& each : plan.alternatives) {
            if (taken.size() < always + most / 2 && std::erase(others, each.configuration) > 0)
                taken.push_back(each.configuration);
        }
        const std::size_t left = std::min(others.size(), always + most - taken.size());
        for (std::size_t i = 0; i < left; ++i)
            taken.push_back(others[i * others.size() / left]);
        return taken;
    }

    void simulate(const compositing::Task& task, const compositing::Configuration& configuration,
                  bool always, EvaluatedCase& one) const {
        const Candidate candidate = compositing::candidate(task, configuration);
        const Schedule schedule = make_schedule(candidate.ranks, candidate.program);
        if (!always && !machine_.on_clock && effort(schedule) > most_effort)
            return;
        const simulate::Question question{.schedule = schedule,
                                          .platform = machine_.platform,
                                          .element_size = pixel,
                                          .costs = platform_.costs};
        const simulate::Simulation run = machine_.on_clock
                                             ? simulate::simulate_on_clock(question, platform_)
                                             : simulate::simulate(question);
        one.configurations.push_back({configuration.text(), false, std::nullopt, {run.seconds}});
    }

    static void predict(const planner::Alternative<compositing::Configuration>& alternative,
                        EvaluatedCase& one) {
        const std::string name = alternative.configuration.text();
        const auto at = std::find_if(one.configurations.begin(), one.configurations.end(),
                                     [&](const EvaluatedConfiguration& configuration) {
                                         return configuration.name == name;
                                     });
        if (at != one.configurations.end() && alternative.expected)
            at->predicted = alternative.expected->seconds;
    }

    const SimulatedMachine& machine_;
    const simulate::Platform platform_;
    const std::vector<int> cores_; ///< of each rank
    planner::Planner planner_;
    planner::Work work_;
    Progress progress_{true};
};

} // namespace

Evaluation evaluate_simulated(const SimulatedMachine& machine) {
    return Simulated(machine).run();
}

} // namespace sextant::lab
