// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/calibrate/planner_here.hpp"
#include "sextant/calibrate/validation.hpp"
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/comm/provenance.hpp"
#include "sextant/comm/waiting.hpp"
#include "sextant/command/composite/composite.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/compositing/catalogue.hpp"
#include "sextant/core/child_process.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/progress.hpp"
#include "sextant/core/temporary_files.hpp"
#include "sextant/kernel/fold/catalogue.hpp"
#include "sextant/lab/bench_composite.hpp"
#include "sextant/lab/evaluation.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

namespace sextant::lab {

namespace {

/// Predicts and measures every case in one launch, on one rank.
class EvaluateLaunch {
  public:
    EvaluateLaunch(const EvaluateTask& task, Communicator communicator)
        : task_(task),
          communicator_(std::move(communicator)),
          progress_(communicator_.rank() == 0) {
        options_.rounds = task.rounds;
    }

    /// Returns the evaluation on rank 0; unspecified elsewhere. Collective.
    Evaluation run() {
        const auto seed = static_cast<std::uint64_t>(task_.seed);
        work_.nodes = nodes_of(communicator_);
        usual_ = calibrate::planner_here(communicator_, work_.nodes, task_.machine,
                                         planner::Probing::now);
        agree(communicator_, [&] { calibrate::require_planner(usual_); });
        work_.within_node =
            communicator_.shares_memory() ? machine::Link::same_process : machine::Link::same_node;
        Evaluation evaluation;
        evaluation.seed = seed;
        evaluation.ranks = communicator_.size();
        Cores cores;
        for (const Cores& each : communicator_.all_gather(Cores::available()))
            cores.add(each);
        evaluation.cores = cores.count();
        evaluation.transport = transport_of(communicator_);
        evaluation.host = host();
        evaluation.machine = usual_.planner->machine().name;
        evaluation.date = date();
        evaluation.profile_round_trip = usual_.planner->machine().state_probe.median;
        const Seconds before = probed();
        evaluation.round_trips = {before};
        for (const CompositeCase& what : draw_cases(seed, task_.cases))
            evaluation.cases.push_back(evaluate(what));
        const Seconds after = probed();
        if (calibrate::is_state(evaluation.profile_round_trip, before))
            evaluation.round_trips = {after};
        progress_.clear();
        return evaluation;
    }

  private:
    /// Probes the machine's state, and returns the round-trip time of rank 0 on all ranks.
    /// Collective.
    Seconds probed() const {
        return communicator_.all_gather(calibrate::probe_state(communicator_)).front();
    }

    EvaluatedCase evaluate(const CompositeCase& what) {
        progress_.say(what.name);
        EvaluatedCase one{what, "", {}};
        const CompositeResults results = bench_composite(communicator_, what, options_);
        for (const CompositeResult& result : results.results) {
            const std::string name =
                result.tuning.empty() ? result.name : result.name + ", " + result.tuning;
            one.configurations.push_back(
                {name, result.baseline, std::nullopt, {result.wall.median}});
        }
        agree(communicator_, [&] {
            if (communicator_.rank() == 0)
                predict(one);
        });
        return one;
    }

    void predict(EvaluatedCase& one) {
        const Operator& op =
            kernel::find(one.what.blend, command::element_named(one.what.element, one.what.blend));
        work_.operator_name = op.name;
        work_.element_name = channels(op.element);
        work_.element_size = op.element.size;
        work_.folds_at_once = !op.exact_when_split;
        const compositing::Task task =
            compositing::one_image_each(communicator_.size(), one.what.shape.elements(),
                                        one.what.collect ? 0 : compositing::Task::distributed);
        const auto best = usual_.planner->plan(task, work_);
        one.chosen = best.text();
        for (const compositing::Configuration& configuration : compositing::configurations(task)) {
            const auto at =
                std::find_if(one.configurations.begin(), one.configurations.end(),
                             [&](auto& each) { return each.name == configuration.text(); });
            if (at != one.configurations.end())
                at->predicted = usual_.planner->seconds(task, configuration, work_);
        }
    }

    const EvaluateTask& task_;
    const Communicator communicator_;
    Progress progress_;
    ContestOptions options_;
    planner::DefaultPlanner usual_;
    planner::Work work_;
};

/// Returns the command line of one launch.
std::string command(const EvaluateTask& task, const std::string& file) {
    std::string command = own_command() + " evaluate --launches 1 -o " + shell_quoted(file);
    if (task.transport == "mpi")
        command = task.launcher + " " + command;
    command += fmt::format(" --cases {} --seed {} --rounds {}", task.cases, task.seed, task.rounds);
    if (task.transport == "threads") // with MPI, the launcher sets the number
        command += fmt::format(" --ranks {}", task.ranks);
    if (!task.machine.empty())
        command += " --machine " + shell_quoted(task.machine);
    return command;
}

/// Starts launches of this program, each of which writes its evaluation to a file. A launch is
/// discarded and repeated, a limited number of times, if the machine's state differs from that of
/// the profile.
class SeparateLaunches {
  public:
    explicit SeparateLaunches(const EvaluateTask& task)
        : task_(task), file_(folder_.file("launch.json")) {}

    Evaluation run() {
        std::optional<Evaluation> all;
        int done = 0, tried = 0;
        for (; done < task_.launches && tried < 3 * task_.launches; ++tried) {
            progress_.say(fmt::format("launch {} of {}", done + 1, task_.launches));
            const Evaluation one = launch();
            if (!calibrate::is_state(one.profile_round_trip, one.round_trips.front()))
                continue;
            ++done;
            if (all)
                add_launches(*all, one);
            else
                all = one;
        }
        progress_.clear();
        if (done < tried) {
            command::print_text(fmt::format(
                "discarded {} of {} launches: the machine's state differed from the profile's\n",
                tried - done, tried));
        }
        if (!all)
            throw Error("in every launch the machine's state differed from the profile's; run "
                        "sextant calibrate");
        return *all;
    }

  private:
    Evaluation launch() const {
        constexpr Seconds patience = 3600;
        run_process(command(task_, file_), patience);
        const Evaluation one = read_evaluation(file_);
        std::filesystem::remove(file_);
        if ((one.transport == "threads") != (task_.transport == "threads"))
            throw Error(fmt::format("--launcher {}: a launch measured {}, expected MPI processes",
                                    task_.launcher, one.transport));
        return one;
    }

    const EvaluateTask& task_;
    const PrivateFolder folder_;
    const std::string file_;
    Progress progress_{true};
};

} // namespace

Evaluation evaluate_here(const EvaluateTask& task, const Communicator& communicator) {
    return EvaluateLaunch(task, communicator).run();
}

Evaluation evaluate_in_launches(const EvaluateTask& task) {
    return SeparateLaunches(task).run();
}

} // namespace sextant::lab
