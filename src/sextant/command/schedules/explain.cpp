// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/provenance.hpp"
#include "sextant/command/commands.hpp"
#include "sextant/command/composite/composite.hpp"
#include "sextant/command/filter/filter.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/command/pages/plan_report.hpp"
#include "sextant/command/schedules/placement.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/json_value.hpp"
#include "sextant/core/progress.hpp"
#include "sextant/core/text.hpp"
#include "sextant/filter/filter_plan.hpp"
#include "sextant/filter/filtering.hpp"
#include "sextant/kernel/fold/catalogue.hpp"
#include "sextant/planner/scan_plan.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <sstream>

#include <fmt/format.h>

namespace sextant::command {

namespace {

constexpr int most_cores = 4096;
/// The number of candidates that are printed without `--all`.
constexpr std::size_t few_candidates = 12;

struct ExplainCommand {
    std::string what = "composite";
    int ranks = 8;
    Elements width = 1024, height = 1024;
    std::string operator_name = "over", element = "f32", model;
    bool distributed = false;
    double density = 1;
    compositing::Tuning tuning;
    PlacementOptions placement;
    int values = 64, cores = 8;
    std::string times = "exponential", speedup = "1";
    FilterOptions filter;
    std::optional<std::int64_t> depth;
    bool all = false;
    std::string json;

    std::size_t rows() const {
        return all ? std::numeric_limits<std::size_t>::max() : few_candidates;
    }
};

const std::vector<std::string_view> of_composite = {"operator", "element", "distributed",
                                                    "density",  "radices", "window"};
const std::vector<std::string_view> of_filter = {"depth",  "sigma",    "derivatives",
                                                 "kernel", "truncate", "before",
                                                 "memory", "grid",     "distribute"};
const std::vector<std::string_view> of_scan = {"values", "cores", "times", "speedup"};

Record record_of(ExplainCommand& command) {
    constexpr int most_ranks = 65536, most_values = 1 << 20, most_planes = 1 << 20;
    Record record;
    record.add("what", command.what, "WHAT", "operation to plan")
        .one_of({"composite", "scan", "filter"})
        .positional();
    record.add("ranks", command.ranks, "N", "number of ranks").between(1, most_ranks);
    record.add_size("size", command.width, command.height, "width and height of each image");
    record.add("operator", command.operator_name, "NAME", "blending operator");
    record.add("element", command.element, "TYPE", "pixel element type")
        .one_of({"f32", "f16", "u8"});
    record.add("distributed", command.distributed,
               "leave the image distributed instead of collecting it on rank 0");
    record.add("model", command.model, "NAME",
               "cost model; default: the most detailed one that the profile allows");
    record.add("density", command.density, "FRACTION", "fraction of active pixels in each image")
        .between(0, 1);
    compositing::declare_tuning(record, command.tuning.radices, command.tuning.window);
    record.add("all", command.all, "show all candidates, not just the best twelve");
    declare_json(record, command.json);
    record.include(record_of(command.placement));
    record.add("values", command.values, "N", "scan: number of values of the series")
        .between(1, most_values);
    record
        .add("cores", command.cores, "N",
             "scan: number of cores for ranks, threads and the operator")
        .between(1, most_cores);
    record.add("times", command.times, "HOW",
               "scan: operator times: constant, correlated, ... or a file");
    record.add("speedup", command.speedup, "X,X",
               "scan: speedup of the operator on 1, 2, ... cores");
    record
        .add("depth", command.depth, "PLANES",
             "filter: number of planes of the volume; default: plan for an image")
        .between(2, most_planes);
    Record filter = record_of(command.filter);
    for (const std::string_view name : of_filter) {
        if (const Field* const field = filter.find(name))
            record.fields.push_back(*field);
    }
    return record;
}

Effects effects_of(ExplainCommand& command) {
    return {{of_composite, "only explain composite uses this option",
             [&] { return command.what == "composite"; }},
            {of_filter, "only explain filter uses this option",
             [&] { return command.what == "filter"; }},
            {{"distribute"},
             "nothing to plan for one rank: expected --ranks 2 or more",
             [&] { return command.ranks > 1; }},
            {{"memory"},
             "expected --depth: only plans for volumes have windows",
             [&] { return command.depth.has_value(); }},
            {of_scan, "only explain scan uses this option", [&] { return command.what == "scan"; }},
            {{"ranks", "size", "model", "transport", "ranks_per_node", "machine"},
             "only explain composite and filter use this option",
             [&] { return command.what != "scan"; }},
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

void explain_composite(const ExplainCommand& command) {
    const compositing::Task task =
        compositing::one_image_each(command.ranks, command.width * command.height,
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
                    command.width, command.height, command.operator_name, command.element,
                    command.distributed ? "left distributed" : "collected on rank 0", plan.machine);
    write_reports({command.json, ""}, {}, planner::to_json(plan),
                  question + "\n" + to_text(plan, "", command.rows()), "");
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
void explain_scan(const ExplainCommand& command) {
    const planner::ScanPlan plan = planner::choose_scan({.values = command.values,
                                                         .cores = command.cores,
                                                         .times = times_from(command.times),
                                                         .speedup = speedup_from(command.speedup)});
    Json json = {{"operation", "explain scan"}, {"version", version()}};
    planner::add_plan(json, plan);
    write_reports({command.json, ""}, {}, json.text(),
                  fmt::format("scan {} values on {} cores\n", command.values, command.cores) +
                      to_text(plan, "", command.rows()),
                  "");
}

using distributed::FilterPlan;
using distributed::FilterTask;

FilterTask task_of(const ExplainCommand& command) {
    FilterTask task;
    task.depth = command.depth.value_or(0);
    task.filters = filters_of(command.filter, task.dimensions());
    task.image = {command.width, command.height};
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

std::string to_json(const FilterPlan& plan, const FilterTask& task) {
    Json states = Json::array();
    for (const Transition& step : transitions_of(plan.configuration, task))
        states.add(
            {{"from", step.from}, {"to", step.to}, {"how", step.how}, {"times", step.times}});
    Record record = results_of("explain filter");
    record.include({{"width", task.image.width},
                    {"height", task.image.height},
                    {"filters", task.filters.size()},
                    {"margin", margin_of(task)},
                    {"outputs", task.features().size()},
                    {"states", states},
                    {"plan", json_of(plan)}});
    if (task.is_volume())
        record.include({{"depth", task.depth}}, "height")
            .include({{"margin_z", planes_around(task)}, {"memory", plan.memory}}, "margin");
    return sextant::to_json(record);
}

/// Prints the plan of `sextant filter` for an image or a volume of this size: the configuration,
/// the locations of the image, and the alternatives with their predictions; for a volume, also the
/// windows that fit in --memory.
void explain_filter(const ExplainCommand& command) {
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
    write_reports({command.json, ""}, {}, to_json(plan, task), to_text(plan, task, command.rows()),
                  "");
}

int run_explain(const ExplainCommand& command, const Call& call) {
    if (command.what == "filter")
        naming_options(call.options, [&] { explain_filter(command); });
    else if (command.what == "scan")
        explain_scan(command);
    else
        explain_composite(command);
    return 0;
}

} // namespace

Operation explain_operation() {
    return declare_command<ExplainCommand>(
        "explain", "show which algorithm would be chosen, and why",
        "  sextant explain composite --ranks 64 --machine ddr-infiniband", run_explain,
        RunOn::one_rank);
}

} // namespace sextant::command
