// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/bench/evaluate.hpp"

#include "sextant/comm/agree.hpp"
#include "sextant/comm/launch.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/progress.hpp"
#include "sextant/core/statistics.hpp"
#include "sextant/operation/bench/evaluate_launches.hpp"
#include "sextant/operation/bench/evaluate_simulated.hpp"
#include "sextant/operation/bench/judge.hpp"
#include "sextant/operation/bench/winners.hpp"
#include "sextant/operation/outputs.hpp"
#include "sextant/simulate/shared.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <span>
#include <string_view>

#include <fmt/format.h>

namespace sextant::operation {

namespace {

bool under_a_launcher() {
    return detect_launcher().launcher != Launcher::none;
}

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
    const auto outputs = files_given(values, {"output", "map"});
    std::vector<std::string> read = values.texts("judge");
    for (const std::string& path : files_given(values, {"machine", "platform"}))
        read.push_back(path);
    keep_inputs(read, outputs);
    check_outputs(outputs);
}

void tell(const Values& values, std::span<const Evaluation> evaluations) {
    if (values.has("output")) {
        if (evaluations.size() > 1)
            throw InvalidTask("--output: a file holds one machine and number of ranks");
        write_text(values.text("output"), to_json(evaluations.front()) + "\n");
    }
    if (evaluations.front().cases.empty()) {
        print_text("nothing measured: the machine is in another state than the profile's\n");
        return;
    }
    print_text(to_text(evaluations, judge(evaluations)));
    if (values.has("map")) {
        const report::WinnerMap map = winners(evaluations);
        write_text(values.text("map"), report::winner_map(map));
        print_text(to_markdown(map));
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
    machine.on_clock = values.flag("clock");
    tell(values, evaluate_simulated(machine));
}

void measure_here(const Values& values) {
    launch(static_cast<int>(values.integer("ranks")), [&](Communicator communicator) {
        const bool first = communicator.rank() == 0;
        agree(communicator, [&] {
            if (first)
                check_files(values);
        });
        const Evaluation evaluation = evaluate_here(values, communicator);
        agree(communicator, [&] {
            if (first)
                tell(values, evaluation);
        });
    });
}

void measure_in_launches(const Values& values) {
    check_files(values);
    tell(values, evaluate_in_launches(values));
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

/// What only one of measuring, simulating and judging has.
void check_asked(const Values& values) {
    if (values.has("judge"))
        refuse_given(values, {"platform", "ranks", "machine"}, "--judge takes what the files say");
    if (values.has("judge") || values.has("platform"))
        refuse_given(values,
                     {"cases", "seed", "launches", "rounds", "transport", "launcher", "in-state"},
                     "nothing is measured");
    if (values.has("platform"))
        refuse_given(values, {"machine"}, "what is planned for is the platform");
    else
        refuse_given(values, {"ways", "alone", "clock"}, "expected --platform");
    if (values.text("transport") != "mpi")
        refuse_given(values, {"launcher"}, "expected --transport mpi");
}

int run_evaluate(const Values& values) {
    check_asked(values);
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
             {.name = "in-state",
              .type = Type::flag,
              .help = "with --launches 1: measure nothing in another state than the profile's"},
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
              .help = "plan without the platform's links: every message as if alone"},
             {.name = "clock",
              .type = Type::flag,
              .help = "judge by our own clock, not SimGrid: for hundreds of ranks"}},
            run_evaluate};
}

} // namespace sextant::operation
