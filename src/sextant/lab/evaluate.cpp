// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/lab/evaluate.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/launch.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/progress.hpp"
#include "sextant/core/statistics.hpp"
#include "sextant/core/text.hpp"
#include "sextant/lab/catalogue.hpp"
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

namespace sextant::lab {

namespace {

/// The options of `sextant evaluate`.
struct EvaluateCommand {
    std::vector<std::string> judge;
    std::string output, map;
    EvaluateTask task;
    std::string platform;
    int configurations = 64;
    bool clock = false;

    std::vector<std::string> outputs() const { return command::files_named({output, map}); }
};

Record record_of(EvaluateTask& task) {
    Record record;
    record.add("cases", task.cases, "N", "number of random cases").between(1, 10000);
    record.add("seed", task.seed, "N", "seed of the random cases").between(0, 1 << 30);
    record
        .add("launches", task.launches, "N",
             "number of separate launches; always 1 if started by a launcher")
        .between(1, 1000);
    record
        .add("rounds", task.rounds, "N", "number of rounds; each configuration runs once per round")
        .between(5, 100000);
    record
        .add("ranks", task.ranks, "N",
             "number of ranks if no launcher sets it: threads, or simulated ranks")
        .between(2, command::most_threads);
    record.add("transport", task.transport, "HOW", "threads, or processes started by --launcher")
        .one_of({"threads", "mpi"});
    record.add("launcher", task.launcher, "COMMAND",
               "command that starts processes, for transport mpi");
    record.add("machine", task.machine, "FILE", "profile to plan with; default: this machine's")
        .file();
    return record;
}

Record record_of(EvaluateCommand& command) {
    Record record;
    record
        .add("judge", command.judge, "FILE...",
             "evaluate the results in these files together; measure nothing")
        .file();
    record.add("output", command.output, "FILE", "write all predictions and measurements (JSON)")
        .file()
        .letter('o');
    record
        .add("map", command.map, "OUT",
             "with --judge: map (SVG) and table of the fastest algorithm per case")
        .file();
    record.include(record_of(command.task));
    record
        .add("platform", command.platform, "FILE",
             "plan for this platform (JSON), and simulate instead of measuring")
        .file();
    record
        .add("ways", command.configurations, "N",
             "maximum number of additional configurations to simulate per case")
        .between(0, 100000);
    record.add("clock", command.clock,
               "use Sextant's simulator instead of SimGrid, for hundreds of ranks");
    return record;
}

bool under_a_launcher() {
    return detect_launcher().launcher != Launcher::none;
}

Effects effects_of(EvaluateCommand& command) {
    const auto judges = [&] { return !command.judge.empty(); };
    const auto simulates = [&] { return !command.platform.empty(); };
    return {
        {{"platform", "ranks", "machine"},
         "--judge uses the values stored in its files",
         [=] { return !judges(); }},
        {{"cases", "seed", "launches", "rounds", "transport", "launcher"},
         "nothing is measured",
         [=] { return !judges() && !simulates(); }},
        {{"machine"},
         "with --platform, plans are made for the platform",
         [=] { return !simulates(); }},
        {{"ways", "clock"}, "expected --platform", simulates},
        {{"ranks"},
         "--launcher sets the number of processes",
         [&] { return command.task.transport != "mpi"; }},
        {{"launcher"}, "expected --transport mpi", [&] { return command.task.transport == "mpi"; }},
        {{"launches"},
         "a launcher has started this process, so there is one launch",
         [&] { return command.task.launches == 1 || !under_a_launcher(); }},
        {{"transport", "launcher"}, "a launcher has started the ranks", [] {
             return !under_a_launcher();
         }}};
}

std::string row(const Regrets& regrets) {
    return fmt::format("  {:<44} {:>7.1f} % {:>7.1f} % {:>7.1f} %\n", regrets.policy,
                       100 * regrets.mean(), 100 * regrets.p95(), 100 * regrets.worst());
}

constexpr std::string_view simulated = "simulated";

std::string heading(const Evaluation& evaluation) {
    if (evaluation.transport == simulated) {
        std::size_t configurations = 0;
        for (const EvaluatedCase& one : evaluation.cases)
            configurations += one.configurations.size();
        return fmt::format("{} cases on {} ranks of {}, {} configurations simulated\n",
                           evaluation.cases.size(), evaluation.ranks, evaluation.host,
                           configurations);
    }
    std::string text = fmt::format(
        "{} cases of seed {}, {} launches, {} ranks over {} on {} cores, planned with {}\n",
        evaluation.cases.size(), evaluation.seed,
        evaluation.cases.front().configurations.front().measured.size(), evaluation.ranks,
        evaluation.transport, evaluation.cores, evaluation.machine);
    if (evaluation.ranks > evaluation.cores)
        text += "more ranks than cores: predictions do not account for ranks that share a core\n";
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
        text += fmt::format(
            "predictions of {} configurations: median error {:.1f} %, 90th percentile {:.1f} %\n",
            verdict.errors.size(), 100 * median(verdict.errors),
            100 * quantile(verdict.errors, .9));
    }
    for (const Loss& loss : verdict.losses) {
        text += fmt::format("regret {:.1f} % in {}: chose {}, best was {}\n", 100 * loss.regret,
                            loss.what, loss.chosen, loss.best);
    }
    return text;
}

void check_files(const EvaluateCommand& command) {
    std::vector<std::string> read = command.judge;
    for (const std::string& path : command::files_named({command.task.machine, command.platform}))
        read.push_back(path);
    command::check_outputs(command.outputs(), read);
}

void tell(const EvaluateCommand& command, std::span<const Evaluation> evaluations) {
    if (!command.output.empty()) {
        if (evaluations.size() > 1)
            throw InvalidTask("--output: expected results of one machine and one number of ranks");
        command::write_text(command.output, to_json(evaluations.front()) + "\n");
    }
    command::print_text(to_text(evaluations, judge(evaluations)));
    if (!command.map.empty()) {
        const WinnerMap map = winners(evaluations);
        command::write_text(command.map, winner_map(map));
        command::print_text(to_markdown(map));
    }
}

void tell(const EvaluateCommand& command, const Evaluation& evaluation) {
    tell(command, std::span(&evaluation, 1));
}

void simulate_here(const EvaluateCommand& command) {
    check_files(command);
    tell(command, evaluate_simulated({machine::shared_file(simulate::platforms, command.platform),
                                      command.task.ranks, command.configurations, command.clock}));
}

void measure_here(const EvaluateCommand& command, const command::Call& call) {
    command::launch_ranks(call, command.task.ranks, [&](const Communicator& communicator) {
        const bool first = communicator.rank() == 0;
        agree(communicator, [&] {
            if (first)
                check_files(command);
        });
        const Evaluation evaluation = evaluate_here(command.task, communicator);
        agree(communicator, [&] {
            if (first)
                tell(command, evaluation);
        });
    });
}

void measure_in_launches(const EvaluateCommand& command) {
    check_files(command);
    tell(command, evaluate_in_launches(command.task));
}

void judge_files(const EvaluateCommand& command) {
    check_files(command);
    std::vector<Evaluation> all;
    for (const std::string& path : command.judge) {
        const Evaluation one = read_evaluation(path);
        // Simulations are kept separate; launches on the same machine are merged.
        if (all.empty() || (one.transport == simulated && all.front().transport == simulated))
            all.push_back(one);
        else
            add_launches(all.front(), one);
    }
    tell(command, all);
}

int run_evaluate(const EvaluateCommand& command, const command::Call& call) {
    if (!command.judge.empty())
        judge_files(command);
    else if (!command.platform.empty())
        simulate_here(command);
    else if (under_a_launcher() ||
             (command.task.launches == 1 && command.task.transport == "threads"))
        measure_here(command, call);
    else
        measure_in_launches(command);
    return 0;
}

} // namespace

command::Operation evaluate_operation() {
    return command::declare_command<EvaluateCommand>(
        "evaluate", "measure the errors of predictions and the regret of choices on this machine",
        "  sextant evaluate --transport mpi --launcher 'mpirun -n 2' -o evaluation.json\n"
        "  sextant evaluate --judge monday.json tuesday.json\n"
        "  sextant evaluate --platform torus-8x8x8 --ranks 64",
        run_evaluate);
}

namespace {

using Cell = WinnerMap::Cell;

/// Returns true if the product of the first radices is the number of ranks per node, so that the
/// first rounds stay within nodes.
bool fills_nodes(const std::string& radices, int ranks_a_node) {
    std::istringstream numbers(radices);
    std::int64_t joined = 1;
    for (std::string text; joined < ranks_a_node && std::getline(numbers, text, ',');) {
        const auto radix = parsed_number<int>(text);
        if (!radix) // the file was edited by hand
            return false;
        joined *= *radix;
    }
    return ranks_a_node > 1 && joined == ranks_a_node;
}

/// Returns the algorithm to which a configuration of Radix-k is equivalent; otherwise the algorithm
/// in the configuration's name.
std::string algorithm_of(const std::string& configuration, int ranks_a_node) {
    const std::string radix = "radix-k, radices ";
    if (!configuration.starts_with(radix))
        return configuration.substr(0, configuration.find(','));
    const std::string radices = configuration.substr(radix.size());
    if (radices.find(',') == std::string::npos)
        return "direct-send";
    if (radices.find_first_not_of("2,") == std::string::npos)
        return "binary-swap";
    return fills_nodes(radices, ranks_a_node) ? "hierarchical radix-k" : "radix-k";
}

/// Returns the number of ranks per node of a simulated machine, whose ranks fill one node after
/// another; 1 if all ranks are on one node, or if unknown.
int ranks_a_node(const Evaluation& evaluation) {
    const bool known = evaluation.transport == "simulated" && evaluation.ranks > evaluation.cores;
    return known ? evaluation.cores : 1;
}

/// Returns the fastest algorithm, with its radices if it is Radix-k, and the second fastest
/// algorithm with its additional time.
Cell cell_of(const EvaluatedCase& one, int ranks_a_node) {
    std::map<std::string, Seconds> best;
    const EvaluatedConfiguration* winner = nullptr;
    for (const EvaluatedConfiguration& configuration : one.configurations) {
        if (configuration.baseline)
            continue;
        const Seconds seconds = median(configuration.measured);
        const auto [at, added] =
            best.try_emplace(algorithm_of(configuration.name, ranks_a_node), seconds);
        at->second = std::min(at->second, seconds);
        if (!winner || seconds < median(winner->measured))
            winner = &configuration;
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

WinnerMap winners(std::span<const Evaluation> evaluations) {
    std::set<Elements> sizes;
    std::map<int, std::map<Elements, Cell>> found;
    for (const Evaluation& evaluation : evaluations) {
        if (evaluation.host != evaluations.front().host) {
            throw InvalidTask(
                fmt::format("a map shows one machine, but these files are from {} and {}",
                            evaluations.front().host, evaluation.host));
        }
        for (const EvaluatedCase& one : evaluation.cases) {
            sizes.insert(one.what.shape.elements());
            found[evaluation.ranks][one.what.shape.elements()] =
                cell_of(one, ranks_a_node(evaluation));
        }
    }
    WinnerMap map;
    map.title = "Fastest algorithms on " + evaluations.front().host;
    map.subtitle = "the fastest algorithm with its best parameters, and the slowdown of the second";
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

std::string to_markdown(const WinnerMap& map) {
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

} // namespace sextant::lab
