// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/provenance.hpp"
#include "sextant/command/commands.hpp"
#include "sextant/command/composite/composite.hpp"
#include "sextant/command/filter/filter.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/command/pages/plan_report.hpp"
#include "sextant/command/schedules/explanation.hpp"
#include "sextant/command/schedules/placement.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/json_value.hpp"
#include "sextant/core/progress.hpp"
#include "sextant/core/text.hpp"
#include "sextant/filter/filter_plan.hpp"
#include "sextant/filter/filtering.hpp"
#include "sextant/kernel/fold/catalogue.hpp"
#include "sextant/planner/plan_file.hpp"
#include "sextant/planner/scan_plan.hpp"
#include "sextant/registration/transform/array_choices.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::command {

namespace {

constexpr int most_cores = 4096;
/// The number of candidates that are printed without `--all`.
constexpr std::size_t few_candidates = 12;
constexpr const char* together = "all ranks begin at the same time";

struct ExplainCommand {
    std::string what = "composite";
    int ranks = 8;
    std::string operator_name = "over", element = "f32", model;
    bool distributed = false;
    double density = 1;
    compositing::Tuning tuning;
    PlacementOptions placement;
    int values = 64;
    std::string times = "exponential", speedup = "1";
    FilterOptions filter;
    PlannedTask task;
    bool all = false;
    std::string json;

    std::size_t rows() const {
        return all ? std::numeric_limits<std::size_t>::max() : few_candidates;
    }
    /// True for a collective operation with an operator.
    bool combines() const { return what == "collective" && sextant::combines(task.kind); }
};

const std::vector<std::string_view> of_filter = {"sigma",  "derivatives", "kernel", "truncate",
                                                 "before", "memory",      "grid",   "distribute"};

Record record_of(ExplainCommand& command) {
    constexpr int most_ranks = 65536, most_values = 1 << 20, most_planes = 1 << 20;
    constexpr Bytes most_element = 1 << 20;
    Record record;
    record.add("what", command.what, "WHAT", "operation to plan")
        .one_of(
            {"composite", "filter", "scan", "collective", "label", "contours", "apply", "register"})
        .positional();
    record.add("ranks", command.ranks, "N", "number of ranks").between(1, most_ranks);
    record.add_size("size", command.task.width, command.task.height,
                    "width and height of each image");
    record.add("operator", command.operator_name, "NAME", "operator on pixels");
    record.add("element", command.element, "TYPE", "pixel element type")
        .one_of({"f32", "f16", "u8"});
    record.add("distributed", command.distributed,
               "leave the image distributed instead of collecting it on rank 0");
    record.add("model", command.model, "NAME",
               "cost model; default: the most detailed one that the profile allows");
    record
        .add("density", command.density, "FRACTION",
             "composite, label: fraction of pixels that are not 0")
        .between(0, 1);
    compositing::declare_tuning(record, command.tuning.radices, command.tuning.window);
    record.add("all", command.all, "show all candidates, not just the best twelve");
    declare_json(record, command.json);
    record.include(record_of(command.placement));
    record.add("values", command.values, "N", "scan: number of values of the series")
        .between(1, most_values);
    record.add("cores", command.task.cores, "N", "number of cores for ranks and threads")
        .between(1, most_cores);
    record.add("times", command.times, "HOW",
               "scan: operator times: constant, correlated, ... or a file");
    record.add("speedup", command.speedup, "X,X",
               "scan: speedup of the operator on 1, 2, ... cores");
    record
        .add("depth", command.task.depth, "PLANES",
             "filter, label: number of planes; default: plan for an image")
        .between(2, most_planes);
    record.add("frames", command.task.frames, "N", "register, apply: number of frames")
        .between(2, most_values);
    record.add("by", command.task.by, registration::align_by_names(), "NAME",
               "apply: resampling method");
    declare_kind(record, command.task.kind).meaning = "collective: the operation";
    record
        .add("count", command.task.count, "N",
             "collective: elements of each rank; all-to-all: for each rank")
        .between(0, most_count);
    record
        .add("element_size", command.task.element_size, "BYTES",
             "collective: size of an element that is only moved")
        .between(1, most_element);
    Record collective = record_of(command.task.collective), filter = record_of(command.filter);
    for (const std::string_view name : {"root", "reproducible", "operator_seconds"})
        record.fields.push_back(*collective.find(name));
    for (const std::string_view name : of_filter) {
        if (const Field* const field = filter.find(name))
            record.fields.push_back(*field);
    }
    return record;
}

Effects effects_of(ExplainCommand& command) {
    const auto only = [&](const std::vector<std::string_view>& operations,
                          const std::vector<std::string_view>& options) -> Effect {
        return {options,
                fmt::format("only explain {} use{} this option", fmt::join(operations, ", "),
                            operations.size() == 1 ? "s" : ""),
                [&command, operations] {
                    return std::ranges::find(operations, command.what) != operations.end();
                }};
    };
    return {only({"composite"}, {"distributed", "radices", "window"}),
            only({"composite", "label"}, {"density"}),
            only({"composite", "collective"}, {"operator", "element"}),
            only({"filter"}, of_filter),
            only({"filter", "label"}, {"depth"}),
            only({"scan"}, {"values", "times", "speedup"}),
            only({"scan", "label", "contours", "apply", "register"}, {"cores"}),
            only({"register", "apply"}, {"frames"}),
            only({"apply"}, {"by"}),
            only({"collective"},
                 {"kind", "count", "element_size", "root", "reproducible", "operator_seconds"}),
            only({"composite", "filter", "collective"}, {"ranks"}),
            only({"composite", "filter", "label", "contours", "apply", "register"}, {"size"}),
            only({"composite", "filter", "collective", "label", "contours"},
                 {"model", "transport", "ranks_per_node", "machine"}),
            {{"operator", "element", "operator_seconds", "reproducible"},
             fmt::format("{} only moves elements", name(command.task.kind)),
             [&] { return command.what != "collective" || command.combines(); }},
            {{"element_size"},
             fmt::format("{} combines elements", name(command.task.kind)),
             [&] { return !command.combines(); }},
            {{"root"},
             fmt::format("{} has no root", name(command.task.kind)),
             [&] { return has_root(command.task.kind); }},
            {{"distribute"},
             "nothing to plan for one rank: expected --ranks 2 or more",
             [&] { return command.ranks > 1; }},
            {{"memory"},
             "expected --depth: only plans for volumes have windows",
             [&] { return command.task.depth.has_value(); }},
            {{"ranks_per_node"}, "threads run on one node", [&] {
                 return command.placement.transport != "threads";
             }}};
}

planner::Work work_of(const ExplainCommand& command, const Placement& placement) {
    const Operator& op =
        kernel::find(command.operator_name, element_named(command.element, command.operator_name));
    return {.operator_name = std::string(op.name),
            .element_name = std::string(channels(op.element)),
            .element_size = op.element.size,
            .folds_at_once = !op.exact_when_split,
            .nodes = placement.nodes,
            .within_node = placement.within_node,
            .model = command.model,
            .density = command.density};
}

/// Formats a line of a table, with a name of at most `width` letters.
std::string row_of(std::size_t width, const std::string& name, const std::string& predicted,
                   const std::string& interval, const std::string& bound,
                   const std::string& remark) {
    const std::string line = fmt::format("  {:<{}} {:>9} {:<22} {:>9}  {}", name, width, predicted,
                                         interval, bound, remark);
    return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

std::string candidates_table(const std::vector<report::Alternative>& alternatives) {
    std::size_t width = 34;
    bool has_bounds = false;
    for (const report::Alternative& each : alternatives) {
        width = std::max(width, each.name.size());
        has_bounds = has_bounds || each.bound;
    }
    std::string text = row_of(width, "", "predicted", "", has_bounds ? "at least" : "", "");
    for (const report::Alternative& each : alternatives) {
        std::string predicted, interval;
        if (const auto& e = each.predicted) {
            predicted = report::to_text(e->seconds);
            if (e->low != e->high)
                interval =
                    fmt::format("[{}, {}]", report::to_text(e->low), report::to_text(e->high));
        }
        text += row_of(width, each.name, predicted, interval,
                       each.bound ? report::to_text(*each.bound) : "", each.remark);
    }
    return text;
}

/// Formats the chosen configuration, `details` about it, and a table of the best alternatives.
template <class Configuration>
std::string to_text(const planner::Plan<Configuration>& plan, const std::string& details,
                    std::size_t most) {
    std::vector<report::Alternative> all = alternatives_of(plan).all;
    const std::size_t more = all.size() - std::min(most, all.size());
    all.resize(all.size() - more);
    std::string text = fmt::format("{}: {}\n{}", plan.text(), plan.reason, details);
    if (!all.empty())
        text += candidates_table(all);
    return more > 0 ? text + fmt::format("  ... and {} more (--all)\n", more) : text;
}

/// The answer of an operation, as text and as JSON.
struct Answer {
    std::string text;
    Json json;

    Answer(std::string shown, Json found, const std::vector<std::string>& assumptions)
        : text(std::move(shown)), json(std::move(found)) {
        for (const std::string& each : assumptions)
            text += fmt::format("  assumed: {}\n", each);
        json.set("assumptions", assumptions);
    }
};

Answer explain_composite(const ExplainCommand& command) {
    const compositing::Task task =
        compositing::one_image_each(command.ranks, command.task.width * command.task.height,
                                    command.distributed ? compositing::Task::distributed : 0);
    const Placement placement = placement_of(command.placement, command.ranks);
    Progress progress(true);
    progress.say(
        fmt::format("planning for {} ranks on {}", command.ranks, placement.machine().name));
    const planner::CompositingPlan plan =
        placement.planner->plan(task, work_of(command, placement), command.tuning);
    progress.clear();
    const std::string question =
        fmt::format("composite {} images of {}x{} ({} on {}), {}, on {}", command.ranks,
                    command.task.width, command.task.height, command.operator_name, command.element,
                    command.distributed ? "left distributed" : "collected on rank 0", plan.machine);
    return {question + "\n" + to_text(plan, "", command.rows()),
            planner::json_of(plan),
            {fmt::format("{:.4g} % of the pixels of each image are active", command.density * 100),
             together}};
}

using Kind = scan::Distribution::Kind;

/// Parses the name of a distribution, or reads a file of recorded times.
scan::Distribution times_from(const std::string& text) {
    for (const Kind kind : {Kind::constant, Kind::exponential, Kind::correlated}) {
        if (text == name(kind))
            return {.kind = kind};
    }
    if (!std::filesystem::exists(text)) {
        throw InvalidTask(fmt::format(
            "--times {}: expected constant, exponential, correlated or a file of times in seconds",
            text));
    }
    return {.kind = Kind::recorded, .mean = 0, .times = scan::read_times(text)};
}

/// Parses "1,1.5,2": the speedup of an operator application on one core, on two cores, ...
std::vector<double> speedup_from(const std::string& text) {
    std::vector<double> speedup;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) {
        constexpr double least = 1e-3, most = 1e6;
        const double factor = parsed_number<double>(part).value_or(0);
        if (factor < least || factor > most || std::ssize(speedup) == most_cores)
            throw InvalidTask(fmt::format(
                "--speedup {}: expected up to {} numbers from {} to {}, such as 1,1.5,2",
                shortened(text), most_cores, least, most));
        speedup.push_back(factor);
    }
    return speedup;
}

/// Prints the configuration that a scan of a series would use, and all other configurations, with
/// their simulated times.
Answer explain_scan(const ExplainCommand& command) {
    const planner::ScanPlan plan = planner::choose_scan({.values = command.values,
                                                         .cores = command.task.cores,
                                                         .times = times_from(command.times),
                                                         .speedup = speedup_from(command.speedup)});
    Json json = {{"operation", "explain scan"}, {"version", version()}};
    planner::add_plan(json, plan);
    return {
        fmt::format("scan {} values on {} cores\n", command.values, command.task.cores) +
            to_text(plan, "", command.rows()),
        std::move(json),
        {fmt::format("{} operator times with a mean of {}", scan::name(plan.question.times.kind),
                     report::to_text(plan.question.times.mean)),
         "messages take no time"}};
}

using distributed::FilterPlan;
using distributed::FilterTask;

FilterTask task_of(const ExplainCommand& command) {
    FilterTask task;
    task.depth = command.task.depth.value_or(0);
    task.filters = filters_of(command.filter, task.dimensions());
    task.image = {command.task.width, command.task.height};
    task.ranks = command.ranks;
    task.distribute = command.filter.distribute;
    task.grid = command.filter.grid;
    if (!task.is_volume())
        grid_of(task.grid, task.ranks, 1, 1); // throws if the numbers of tiles and ranks differ
    else if (task.grid && task.grid->count() != task.ranks)
        throw InvalidTask(fmt::format("--grid {}: {} tiles, expected one for each of the {} ranks",
                                      task.grid->text(), task.grid->count(), task.ranks));
    return task;
}

/// Returns the number of neighbouring pixels on each side that the last filter needs; for a volume,
/// within a plane.
Elements margin_of(const FilterTask& task) {
    const kernel::FilterBank bank = distributed::bank_of(task.filters.back(), task.dimensions());
    return std::max(bank.reach_x(), bank.reach_y());
}

/// Returns the number of neighbouring planes on each side that the last filter of a volume needs.
Elements planes_around(const FilterTask& task) {
    return distributed::bank_of(task.filters.back(), task.dimensions()).reach_z();
}

/// A step of the plan, possibly repeated: the image moves from one location to another, or is
/// filtered in place.
struct Transition {
    std::string from, to, how;
    int times = 1;
};

/// Returns the sequence of locations of the image.
std::vector<Transition> transitions_of(const filtering::Configuration& configuration,
                                       const FilterTask& task) {
    const int filters = static_cast<int>(task.filters.size());
    const std::string file = "in the file", root = "on rank 0";
    const std::string reads =
        task.is_volume() ? "rank 0 reads the volume" : "rank 0 reads the image";
    if (configuration.ranks() == 1)
        return {{file, root, reads}, {root, root, "filter", filters}};
    std::vector<Transition> all;
    std::string tiles = file;
    if (configuration.distribute) {
        all.push_back({file, root, reads});
        tiles = root;
    }
    const std::vector<filtering::Retiling> grids = configuration.all_tiles();
    for (std::size_t i = 0; i < grids.size(); ++i) {
        const std::string now = fmt::format("in {} tiles", grids[i].tiles.text());
        const int end = i + 1 < grids.size() ? grids[i + 1].filter : filters;
        const bool first = i == 0;
        all.push_back({tiles, now,
                       !first                     ? "redistribution, with borders"
                       : configuration.distribute ? std::string(configuration.distribute->name)
                                                  : "each rank reads its own tile"});
        const bool has_borders = !first || configuration.broadcasts();
        if (has_borders)
            all.push_back({now, now, "filter"});
        if (const int more = end - grids[i].filter - (has_borders ? 1 : 0); more > 0)
            all.push_back({now, now, "borders, filter", more});
        tiles = now;
    }
    all.push_back({tiles, root,
                   configuration.collect ? std::string(configuration.collect->name)
                                         : "planes sent directly to rank 0"});
    return all;
}

/// Describes the windows of planes of a volume, and the prediction for all windows.
std::string windows_text(const FilterPlan& plan, const FilterTask& task) {
    const Elements windows = (task.depth + plan.window - 1) / plan.window;
    std::string text = fmt::format(
        "  {} of {}, {:.1f} MiB for all ranks together\n", report::counted(windows, "window"),
        report::counted(plan.window, "plane"), static_cast<double>(plan.memory) / (1 << 20));
    if (!plan.predicted)
        return text;
    const auto phase = [](const char* name, std::optional<Seconds> seconds) {
        return seconds ? fmt::format("  {} {}", name, report::to_text(*seconds)) : "";
    };
    return text + fmt::format("  predicted:{}{}{}\n", phase("read", plan.predicted->read),
                              phase("filter", plan.predicted->seconds),
                              phase("write", plan.predicted->write));
}

std::string shape_and_margin(const FilterTask& task) {
    if (!task.is_volume())
        return fmt::format("{}x{} pixels, {}, margin {}", task.image.width, task.image.height,
                           text_of(task.filters), margin_of(task));
    return fmt::format("{}x{}x{} voxels, {}, margin {} in planes, {} along z", task.image.width,
                       task.image.height, task.depth, text_of(task.filters), margin_of(task),
                       planes_around(task));
}

std::string to_text(const FilterPlan& plan, const FilterTask& task, std::size_t most) {
    std::string states = task.is_volume() ? windows_text(plan, task) : "";
    for (const Transition& step : transitions_of(plan.configuration, task)) {
        states += fmt::format("  {} -> {}: {}", step.from, step.to, step.how);
        states += step.times > 1 ? fmt::format(", {} times\n", step.times) : "\n";
    }
    return fmt::format("filter {}\n{}", shape_and_margin(task), to_text(plan, states, most));
}

Json json_of(const FilterPlan& plan, const FilterTask& task) {
    Json states = Json::array();
    for (const Transition& step : transitions_of(plan.configuration, task))
        states.add(
            {{"from", step.from}, {"to", step.to}, {"how", step.how}, {"times", step.times}});
    Json json = {{"operation", "explain filter"},     {"version", version()},
                 {"width", task.image.width},         {"height", task.image.height},
                 {"filters", task.filters.size()},    {"margin", margin_of(task)},
                 {"outputs", task.features().size()}, {"states", std::move(states)},
                 {"plan", distributed::json_of(plan)}};
    if (task.is_volume()) {
        json.set("depth", task.depth);
        json.set("margin_z", planes_around(task));
        json.set("memory", plan.memory);
    }
    return json;
}

/// Prints the plan of `sextant filter` for an image or a volume of this size: the configuration,
/// the locations of the image, and the alternatives with their predictions; for a volume, also the
/// windows that fit in --memory.
Answer explain_filter(const ExplainCommand& command) {
    const std::string& machine = command.placement.machine;
    if (!machine.empty() && is_platform(machine)) {
        throw InvalidTask(fmt::format(
            "--machine {}: a platform has no filter costs, expected a profile", machine));
    }
    FilterTask task = task_of(command);
    const Placement placement = placement_of(command.placement, task.ranks);
    task.shares_memory = placement.within_node == machine::Link::same_process;
    Progress progress(true);
    progress.say(fmt::format("planning for {} ranks on {}", task.ranks, placement.machine().name));
    const planner::Setting setting{.machine = placement.machine(),
                                   .element_size = gray_f32.size,
                                   .nodes = placement.nodes,
                                   .within_node = placement.within_node,
                                   .model = command.model};
    const FilterPlan plan = task.is_volume()
                                ? distributed::plan_windows(task, setting, command.filter.memory)
                                : distributed::default_filter_plan(task, setting);
    progress.clear();
    const bool has_files = setting.machine.find_kernel("read-file", "u8") != nullptr;
    return {to_text(plan, task, command.rows()),
            json_of(plan, task),
            {has_files ? "files are in the page cache" : "reading and writing files takes no time",
             together}};
}

/// Plans an operation whose candidates are configurations in words.
Answer explain_other(const ExplainCommand& command, const Call& call) {
    PlannedTask task = command.task;
    task.what = command.what;
    task.program = call.own_command();
    if (call.has("density"))
        task.density = command.density;
    const bool is_collective = command.what == "collective";
    const int ranks = is_collective ? command.ranks : task.cores;
    Explained explained;
    if (command.what == "register") {
        explained = explain_register(task);
    } else {
        Placement placement = placement_of(command.placement, ranks);
        if (!is_collective && placement.nodes.empty() &&
            placement.machine().find(placement.within_node))
            placement.nodes.assign(static_cast<std::size_t>(ranks), 0);
        const planner::Setting setting{.machine = placement.machine(),
                                       .nodes = placement.nodes,
                                       .wires = placement.planner->wires(),
                                       .within_node = placement.within_node,
                                       .model = command.model};
        std::optional<Operator> op;
        if (command.combines())
            op = kernel::find(command.operator_name,
                              element_named(command.element, command.operator_name));
        explained = is_collective                ? explain_collective(task, op, ranks, setting)
                    : command.what == "label"    ? explain_label(task, setting)
                    : command.what == "contours" ? explain_contours(task, setting)
                                                 : explain_apply(task, setting);
    }
    Json json = {{"operation", "explain"},
                 {"what", command.what},
                 {"version", version()},
                 {"task", explained.question},
                 {"choice", explained.plan.text()}};
    planner::add_plan(json, explained.plan, [](Json& one, const NamedConfiguration& each) {
        one.set("name", each.name);
    });
    return {explained.question + "\n" + to_text(explained.plan, "", command.rows()),
            std::move(json), explained.assumptions};
}

int run_explain(const ExplainCommand& command, const Call& call) {
    naming_options(call.options, [&] {
        const Answer answer = command.what == "composite" ? explain_composite(command)
                              : command.what == "filter"  ? explain_filter(command)
                              : command.what == "scan"    ? explain_scan(command)
                                                          : explain_other(command, call);
        write_reports({command.json, ""}, {}, answer.json.text(), answer.text, "");
    });
    return 0;
}

} // namespace

Operation explain_operation() {
    return declare_command<ExplainCommand>(
        "explain", "show which algorithm would be chosen, and why",
        "  sextant explain composite --ranks 64 --machine ddr-infiniband\n"
        "  sextant explain filter --ranks 16 --size 4096 --sigma 3 --machine das\n"
        "  sextant explain scan --values 64 --cores 4\n"
        "  sextant explain collective --kind all-reduce --ranks 16 --count 1000000\n"
        "  sextant explain label --size 4096 --cores 4\n"
        "  sextant explain contours --size 4096 --cores 4\n"
        "  sextant explain apply --frames 100 --size 1024 --by cubic\n"
        "  sextant explain register --frames 100 --size 1024 --cores 4",
        run_explain, RunOn::one_rank);
}

} // namespace sextant::command
