// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/evaluate.hpp"

#include "sextant/calibrate/staleness.hpp"
#include "sextant/comm/agree.hpp"
#include "sextant/comm/cores.hpp"
#include "sextant/comm/hosts.hpp"
#include "sextant/comm/launch.hpp"
#include "sextant/compositing/ways.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/statistics.hpp"
#include "sextant/kernel/catalogue.hpp"
#include "sextant/operation/bench_composite.hpp"
#include "sextant/operation/child_process.hpp"
#include "sextant/operation/element.hpp"
#include "sextant/operation/evaluate_simulated.hpp"
#include "sextant/operation/judge.hpp"
#include "sextant/operation/outputs.hpp"
#include "sextant/operation/progress.hpp"
#include "sextant/operation/provenance.hpp"
#include "sextant/operation/winners.hpp"
#include "sextant/planner/usual.hpp"
#include "sextant/simulate/shared.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

namespace sextant::operation {

namespace {

bool under_a_launcher() {
    return detect_launcher().launcher != Launcher::none;
}

/// One rank's way through one launch: every case, predicted and measured.
class EvaluateLaunch {
  public:
    EvaluateLaunch(const Values& values, Communicator communicator)
        : values_(values),
          communicator_(std::move(communicator)),
          progress_(communicator_.rank() == 0) {
        options_.rounds = static_cast<int>(values.integer("rounds"));
    }

    /// On rank 0 the evaluation; elsewhere nothing of use.
    Evaluation run() {
        const auto seed = static_cast<std::uint64_t>(values_.integer("seed"));
        agree(communicator_, [&] {
            usual_ = planner::usual_planner(communicator_.shares_memory() ? "threads" : "mpi",
                                            values_.text("machine"));
        });
        work_.nodes = nodes_of(communicator_);
        work_.within_node =
            communicator_.shares_memory() ? machine::Link::same_process : machine::Link::same_node;
        Evaluation evaluation;
        evaluation.seed = seed;
        evaluation.ranks = communicator_.size();
        Cores cores;
        for (const Cores& each : communicator_.all_gather(Cores::available()))
            cores.add(each);
        evaluation.cores = cores.count();
        evaluation.transport = communicator_.shares_memory() ? "threads" : mpi_of_build();
        evaluation.host = host();
        evaluation.machine = usual_.planner->machine().name;
        evaluation.date = date();
        evaluation.profile_round_trip = usual_.planner->machine().state_probe.median;
        evaluation.round_trips = {calibrate::probe_state(communicator_)};
        for (const CompositeCase& what :
             draw_cases(seed, static_cast<int>(values_.integer("cases"))))
            evaluation.cases.push_back(evaluate(what));
        progress_.clear();
        return evaluation;
    }

  private:
    EvaluatedCase evaluate(const CompositeCase& what) {
        progress_.say(what.name);
        EvaluatedCase one{what, "", {}};
        const CompositeResults results = bench_composite(communicator_, what, options_);
        for (const CompositeResult& result : results.results) {
            const std::string name =
                result.tuning.empty() ? result.name : result.name + ", " + result.tuning;
            one.ways.push_back({name, result.baseline, std::nullopt, {result.wall.median}});
        }
        agree(communicator_, [&] {
            if (communicator_.rank() == 0)
                predict(one);
        });
        return one;
    }

    void predict(EvaluatedCase& one) {
        const Operator& op =
            kernel::find(one.what.blend, element_named(one.what.element, one.what.blend));
        work_.operator_name = op.name;
        work_.element_name = channels(op.element);
        work_.element_size = op.element.size;
        work_.folds_at_once = !op.exact_when_split;
        const compositing::Task task =
            compositing::one_image_each(communicator_.size(), one.what.shape.elements(),
                                        one.what.collect ? 0 : compositing::Task::distributed);
        const auto best = usual_.planner->plan(task, work_);
        one.chosen = best.text();
        for (const compositing::Way& way : compositing::ways(task)) {
            const auto at = std::find_if(one.ways.begin(), one.ways.end(),
                                         [&](auto& each) { return each.name == way.text(); });
            if (at != one.ways.end())
                at->predicted = usual_.planner->seconds(task, way, work_);
        }
    }

    const Values& values_;
    const Communicator communicator_;
    Progress progress_;
    ContestOptions options_;
    planner::UsualPlanner usual_;
    planner::Work work_;
};

std::string row(const Regrets& regrets) {
    return fmt::format("  {:<44} {:>7.1f} % {:>7.1f} % {:>7.1f} %\n", regrets.policy,
                       100 * regrets.mean(), 100 * regrets.p95(), 100 * regrets.worst());
}

constexpr std::string_view simulated = "simulated";

std::string heading(const Evaluation& evaluation) {
    if (evaluation.transport == simulated) {
        std::size_t ways = 0;
        for (const EvaluatedCase& one : evaluation.cases)
            ways += one.ways.size();
        return fmt::format("{} cases on {} ranks of {}, {} ways simulated\n",
                           evaluation.cases.size(), evaluation.ranks, evaluation.host, ways);
    }
    std::string text = fmt::format(
        "{} cases of seed {}, {} launches, {} ranks over {} on {} cores, planned with {}\n",
        evaluation.cases.size(), evaluation.seed,
        evaluation.cases.front().ways.front().measured.size(), evaluation.ranks,
        evaluation.transport, evaluation.cores, evaluation.machine);
    if (evaluation.ranks > evaluation.cores)
        text += "more ranks than cores: they take turns, which no prediction knows of\n";
    return text;
}

std::string to_text(std::span<const Evaluation> evaluations, const Verdict& verdict) {
    std::string text;
    for (const Evaluation& evaluation : evaluations)
        text += heading(evaluation);
    text += fmt::format("  {:<44} {:>9} {:>9} {:>9}\n", "regret", "mean", "p95", "worst");
    text += row(verdict.planner);
    if (!verdict.floor.values.empty())
        text += row(verdict.floor);
    for (const Regrets& policy : verdict.policies)
        text += row(policy);
    if (!verdict.errors.empty()) {
        text += fmt::format("prediction against measurement, {} ways: error {:.1f} % in the "
                            "median, nine in ten within {:.1f} %\n",
                            verdict.errors.size(), 100 * median(verdict.errors),
                            100 * quantile(verdict.errors, .9));
    }
    for (const Loss& loss : verdict.losses) {
        text += fmt::format("lost {:.1f} %: {}: {}, best {}\n", 100 * loss.regret, loss.what,
                            loss.chosen, loss.best);
    }
    return text;
}

void check_files(const Values& values) {
    std::vector<std::string> paths;
    for (const char* name : {"output", "map"}) {
        if (values.has(name))
            paths.push_back(values.text(name));
    }
    check_outputs(paths);
}

void tell(const Values& values, std::span<const Evaluation> evaluations) {
    if (values.has("output")) {
        if (evaluations.size() > 1)
            throw InvalidTask("--output: a file holds one machine and number of ranks");
        write_text(values.text("output"), to_json(evaluations.front()) + "\n");
    }
    std::fputs(to_text(evaluations, judge(evaluations)).c_str(), stdout);
    if (values.has("map")) {
        const report::WinnerMap map = winners(evaluations);
        write_text(values.text("map"), report::winner_map(map));
        std::fputs(to_markdown(map).c_str(), stdout);
    }
}

void tell(const Values& values, const Evaluation& evaluation) {
    tell(values, std::span(&evaluation, 1));
}

void simulate_here(const Values& values) {
    check_files(values);
    SimulatedMachine machine;
    machine.platform = machine::shared_file(simulate::platforms, values.text("platform"));
    machine.ranks = static_cast<int>(values.integer("ranks"));
    machine.ways = static_cast<int>(values.integer("ways"));
    machine.knows_links = !values.flag("alone");
    tell(values, evaluate_simulated(machine));
}

void measure_here(const Values& values) {
    launch(static_cast<int>(values.integer("ranks")), [&](Communicator communicator) {
        const bool first = communicator.rank() == 0;
        agree(communicator, [&] {
            if (first)
                check_files(values);
        });
        const Evaluation evaluation = EvaluateLaunch(values, communicator).run();
        agree(communicator, [&] {
            if (first)
                tell(values, evaluation);
        });
    });
}

/// The command line of one launch.
std::string command(const Values& values, const std::string& file) {
    std::string command = own_command() + " evaluate --launches 1 -o " + quoted(file);
    if (values.text("transport") == "mpi")
        command = values.text("launcher") + " " + command;
    for (const char* name : {"cases", "seed", "rounds", "ranks", "machine"}) {
        if (values.has(name))
            command += fmt::format(" --{} {}", name, quoted(values.text(name)));
    }
    return command;
}

/// Launches of this program, each of which writes its evaluation. One that meets the machine in
/// another state than the profile's is left out and made up for, some times.
class SeparateLaunches {
  public:
    explicit SeparateLaunches(const Values& values)
        : values_(values),
          wanted_(values.integer("launches")),
          file_((std::filesystem::temp_directory_path() /
                 fmt::format("sextant-evaluate-{}.json", getpid()))
                    .string()) {}

    Evaluation run() {
        std::optional<Evaluation> all;
        std::int64_t done = 0, tried = 0;
        for (; done < wanted_ && tried < 3 * wanted_; ++tried) {
            progress_.say(fmt::format("launch {} of {}", done + 1, wanted_));
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
            std::fputs(fmt::format("left out {} of {} launches: the machine was in another state "
                                   "than the profile's\n",
                                   tried - done, tried)
                           .c_str(),
                       stdout);
        }
        if (!all)
            throw Error("no launch met the machine in the state of the profile; sextant calibrate");
        return *all;
    }

  private:
    Evaluation launch() const {
        constexpr Seconds patience = 3600;
        run_process(command(values_, file_), patience);
        const Evaluation one = read_evaluation(file_);
        std::filesystem::remove(file_);
        return one;
    }

    const Values& values_;
    const std::int64_t wanted_;
    const std::string file_;
    Progress progress_{true};
};

void measure_in_launches(const Values& values) {
    check_files(values);
    tell(values, {SeparateLaunches(values).run()});
}

void judge_files(const Values& values) {
    check_files(values);
    std::vector<Evaluation> all;
    for (const std::string& path : values.texts("judge")) {
        const Evaluation one = read_evaluation(path);
        // What is simulated has no launches; what is measured is of one machine.
        if (all.empty() || (one.transport == simulated && all.front().transport == simulated))
            all.push_back(one);
        else
            add_launches(all.front(), one);
    }
    tell(values, all);
}

int run_evaluate(const Values& values) {
    if (values.has("judge"))
        judge_files(values);
    else if (values.has("platform"))
        simulate_here(values);
    else if (under_a_launcher() || values.integer("launches") == 1)
        measure_here(values);
    else
        measure_in_launches(values);
    return 0;
}

} // namespace

Operation evaluate_operation() {
    return {"evaluate",
            "how good predictions and choices are here: errors, and regret against all ways",
            "  sextant evaluate --transport mpi --launcher 'mpirun -n 2' -o evaluation.json\n"
            "  sextant evaluate --judge monday.json tuesday.json\n"
            "  sextant evaluate --platform torus-8x8x8 --ranks 64",
            {{.name = "judge",
              .type = Type::files,
              .value = "FILE...",
              .help = "measure nothing; judge these evaluations of the same cases together"},
             {.name = "output",
              .type = Type::file,
              .value = "FILE",
              .help = "all that was predicted and measured, as JSON",
              .letter = 'o'},
             {.name = "map",
              .type = Type::file,
              .value = "OUT",
              .help = "with --judge: a picture (SVG) of where each algorithm wins, and a table"},
             {.name = "cases",
              .type = Type::integer,
              .value = "N",
              .fallback = "24",
              .help = "how many are drawn",
              .least = 1,
              .most = 10000},
             {.name = "seed",
              .type = Type::integer,
              .value = "N",
              .fallback = "2026",
              .help = "that draws them",
              .least = 0,
              .most = 1 << 30},
             {.name = "launches",
              .type = Type::integer,
              .value = "N",
              .fallback = "4",
              .help = "processes one after another; 1 under a launcher",
              .least = 1,
              .most = 1000},
             {.name = "rounds",
              .type = Type::integer,
              .value = "N",
              .fallback = "9",
              .help = "each way runs once a round",
              .least = 5,
              .most = 100000},
             {.name = "ranks",
              .type = Type::integer,
              .value = "N",
              .fallback = "2",
              .help = "threads where no launcher starts processes; or of the platform",
              .least = 2,
              .most = 1024},
             {.name = "transport",
              .type = Type::choice,
              .value = "HOW",
              .fallback = "threads",
              .help = "threads, or what --launcher starts",
              .choices = {"threads", "mpi"}},
             {.name = "launcher",
              .value = "COMMAND",
              .fallback = "mpirun -n 2",
              .help = "what starts processes, for --transport mpi"},
             {.name = "machine",
              .type = Type::file,
              .value = "FILE",
              .help = "the profile to plan with; default: this machine's"},
             {.name = "platform",
              .type = Type::file,
              .value = "FILE",
              .help = "plan for this platform (JSON) and simulate instead of measuring"},
             {.name = "ways",
              .type = Type::integer,
              .value = "N",
              .fallback = "64",
              .help = "how many to simulate, besides the planner's and the policies'",
              .least = 0,
              .most = 100000},
             {.name = "alone",
              .type = Type::flag,
              .help = "plan without the platform's links: every message as if alone"}},
            run_evaluate};
}

} // namespace sextant::operation
