// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/lab/evaluate.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/launch.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/progress.hpp"
#include "sextant/core/statistics.hpp"
#include "sextant/lab/evaluate_launches.hpp"
#include "sextant/lab/evaluate_simulated.hpp"
#include "sextant/lab/evaluation.hpp"
#include "sextant/simulate/platform.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

namespace sextant::command {

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
        // Simulations have no launches to be merged; measurements are of one machine.
        if (all.empty() || (one.transport == simulated && all.front().transport == simulated))
            all.push_back(one);
        else
            add_launches(all.front(), one);
    }
    tell(values, all);
}

/// Refuses options that do not apply to measuring, simulating or judging.
void check_asked(const Values& values) {
    if (values.has("judge"))
        refuse_given(values, {"platform", "ranks", "machine"}, "--judge takes what the files say");
    if (values.has("judge") || values.has("platform"))
        refuse_given(values, {"cases", "seed", "launches", "rounds", "transport", "launcher"},
                     "nothing is measured");
    if (values.has("platform"))
        refuse_given(values, {"machine"}, "what is planned for is the platform");
    else
        refuse_given(values, {"ways", "clock"}, "expected --platform");
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
             {.name = "clock",
              .type = Type::flag,
              .help = "judge by our own clock, not SimGrid: for hundreds of ranks"}},
            run_evaluate};
}

namespace {

using Cell = report::WinnerMap::Cell;

/// True if the first rounds of these radices cover exactly a node of so many ranks.
bool fills_nodes(const std::string& radices, int ranks_a_node) {
    std::istringstream numbers(radices);
    int joined = 1;
    for (std::string radix; joined < ranks_a_node && std::getline(numbers, radix, ',');)
        joined *= std::stoi(radix);
    return ranks_a_node > 1 && joined == ranks_a_node;
}

/// The algorithm that a configuration amounts to, whatever its name.
std::string algorithm_of(const std::string& way, int ranks_a_node) {
    const std::string radix = "radix-k, radices ";
    if (!way.starts_with(radix))
        return way.substr(0, way.find(','));
    const std::string radices = way.substr(radix.size());
    if (radices.find(',') == std::string::npos)
        return "direct-send";
    if (radices.find_first_not_of("2,") == std::string::npos)
        return "binary-swap";
    return fills_nodes(radices, ranks_a_node) ? "hierarchical radix-k" : "radix-k";
}

/// For a simulated machine, whose nodes are filled one after another; 1 if all ranks are on one
/// node, or if unknown.
int ranks_a_node(const Evaluation& evaluation) {
    const bool known = evaluation.transport == "simulated" && evaluation.ranks > evaluation.cores;
    return known ? evaluation.cores : 1;
}

/// The winner, with its tuning if that matters, and the distance to the next algorithm.
Cell cell_of(const EvaluatedCase& one, int ranks_a_node) {
    std::map<std::string, Seconds> best;
    const EvaluatedWay* winner = nullptr;
    for (const EvaluatedWay& way : one.ways) {
        if (way.baseline)
            continue;
        const Seconds seconds = median(way.measured);
        const auto [at, added] = best.try_emplace(algorithm_of(way.name, ranks_a_node), seconds);
        at->second = std::min(at->second, seconds);
        if (!winner || seconds < median(winner->measured))
            winner = &way;
    }
    Cell cell{algorithm_of(winner->name, ranks_a_node), ""};
    if (cell.winner.ends_with("radix-k"))
        cell.detail = winner->name.substr(winner->name.rfind(' ') + 1);
    const Seconds first = best.at(cell.winner);
    best.erase(cell.winner);
    const auto next = std::min_element(
        best.begin(), best.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    if (next != best.end()) {
        cell.detail += fmt::format("{}+{:.0f} % {}", cell.detail.empty() ? "" : "; ",
                                   100 * (next->second / first - 1), next->first);
    }
    return cell;
}

} // namespace

report::WinnerMap winners(std::span<const Evaluation> evaluations) {
    std::set<Elements> sizes;
    std::map<int, std::map<Elements, Cell>> found;
    for (const Evaluation& evaluation : evaluations) {
        if (evaluation.host != evaluations.front().host) {
            throw InvalidTask(fmt::format("a map is of one machine, these are of {} and {}",
                                          evaluations.front().host, evaluation.host));
        }
        for (const EvaluatedCase& one : evaluation.cases) {
            sizes.insert(one.what.shape.elements());
            found[evaluation.ranks][one.what.shape.elements()] =
                cell_of(one, ranks_a_node(evaluation));
        }
    }
    report::WinnerMap map;
    map.title = "Who wins on " + evaluations.front().host;
    map.subtitle = "the fastest algorithm in its best tuning, and how much slower the next is";
    for (const Elements size : sizes)
        map.columns.push_back(fmt::format("{} pixels", size));
    for (const auto& [ranks, cells] : found) {
        map.rows.push_back(fmt::format("{} ranks", ranks));
        map.cells.emplace_back();
        for (const Elements size : sizes) {
            const auto at = cells.find(size);
            map.cells.back().push_back(at == cells.end() ? Cell{} : at->second);
        }
    }
    return map;
}

std::string to_markdown(const report::WinnerMap& map) {
    std::string text = "| " + map.title + " |", rule = "|---|";
    for (const std::string& column : map.columns) {
        text += fmt::format(" {} |", column);
        rule += "---|";
    }
    text += "\n" + rule + "\n";
    for (std::size_t r = 0; r < map.rows.size(); ++r) {
        text += fmt::format("| {} |", map.rows[r]);
        for (const Cell& cell : map.cells[r]) {
            text += cell.detail.empty() ? fmt::format(" {} |", cell.winner)
                                        : fmt::format(" {} ({}) |", cell.winner, cell.detail);
        }
        text += "\n";
    }
    return text;
}

} // namespace sextant::command
