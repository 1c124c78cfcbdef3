// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/explain_filter.hpp"

#include "sextant/command/filter.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/command/placement.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"
#include "sextant/core/progress.hpp"
#include "sextant/distributed/filter_plan.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::command {

namespace {

using distributed::FilterPlan;
using distributed::FilterTask;
using Json = nlohmann::ordered_json;

/// The options of `sextant filter` that affect schedules.
constexpr const char* options_explained[] = {"sigma",  "derivatives", "kernel",    "truncate",
                                             "before", "grid",        "distribute"};

FilterTask task_of(const Values& values) {
    FilterOptions options;
    Record record = on_command_line(record_of(options));
    for (const char* name : options_explained) {
        if (values.has(name))
            record[name].set(values.text(name));
    }
    const ImageSize size = image_size("size", values.text("size"));
    FilterTask task;
    task.filters = filters_of(options);
    task.image = {size.width, size.height};
    task.ranks = static_cast<int>(values.integer("ranks"));
    task.distribute = options.distribute;
    if (options.grid) {
        const Grid grid = grid_of(options.grid, task.ranks, task.image.width, task.image.height);
        task.columns = grid.columns;
        task.rows = grid.rows;
    }
    return task;
}

/// The number of pixels that the last filter needs around a pixel.
Elements margin_of(const FilterTask& task) {
    const kernel::FilterBank bank = distributed::bank_of(task.filters.back());
    return std::max(bank.reach_x(), bank.reach_y());
}

/// A transition of the image from one location to another, or one filter or more in place.
struct Transition {
    std::string from, to, how;
    int times = 1;
};

/// The locations that the image passes through.
std::vector<Transition> transitions_of(const filtering::Way& way, int filters) {
    const std::string file = "in the file", root = "on rank 0";
    if (way.ranks() == 1)
        return {{file, root, "rank 0 reads it"}, {root, root, "filter", filters}};
    std::vector<Transition> all;
    std::string tiles = file;
    if (way.distribute) {
        all.push_back({file, root, "rank 0 reads it"});
        tiles = root;
    }
    const std::vector<filtering::Retiling> grids = way.all_tiles();
    for (std::size_t i = 0; i < grids.size(); ++i) {
        const std::string now = fmt::format("in {}x{} tiles", grids[i].columns, grids[i].rows);
        const int end = i + 1 < grids.size() ? grids[i + 1].filter : filters;
        const bool first = i == 0;
        all.push_back({tiles, now,
                       !first           ? "redistribution, with borders"
                       : way.distribute ? std::string(way.distribute->name)
                                        : "each rank reads its own"});
        const bool has_borders = !first || way.broadcasts();
        if (has_borders)
            all.push_back({now, now, "filter"});
        if (const int more = end - grids[i].filter - (has_borders ? 1 : 0); more > 0)
            all.push_back({now, now, "borders, filter", more});
        tiles = now;
    }
    all.push_back(
        {tiles, root, way.collect ? std::string(way.collect->name) : "planes straight to it"});
    return all;
}

std::string to_text(const FilterPlan& plan, const FilterTask& task, std::size_t most) {
    std::string text = fmt::format("filter {}x{} pixels, {}, margin {}\n{}: {}\n", task.image.width,
                                   task.image.height, text_of(task.filters), margin_of(task),
                                   distributed::text_of(plan.way), plan.reason);
    for (const Transition& step : transitions_of(plan.way, static_cast<int>(task.filters.size()))) {
        text += fmt::format("  {} -> {}: {}", step.from, step.to, step.how);
        text += step.times > 1 ? fmt::format(", {} times\n", step.times) : "\n";
    }
    const std::size_t shown = std::min(most, plan.alternatives.size());
    std::size_t width = 0;
    for (std::size_t i = 0; i < shown; ++i)
        width = std::max(width, distributed::text_of(plan.alternatives[i].way).size());
    if (shown > 0)
        text += fmt::format("  {:<{}} {:>9}\n", "candidates", width, "predicted");
    for (std::size_t i = 0; i < shown; ++i) {
        const FilterPlan::Alternative& one = plan.alternatives[i];
        text += fmt::format("  {:<{}} {:>9}", distributed::text_of(one.way), width,
                            one.seconds ? report::to_text(*one.seconds) : "");
        text += one.remark.empty() ? "\n" : "  " + one.remark + "\n";
    }
    if (shown < plan.alternatives.size())
        text += fmt::format("  ... and {} more (--all)\n", plan.alternatives.size() - shown);
    return text;
}

Json to_json(const FilterPlan& plan, const FilterTask& task) {
    const int filters = static_cast<int>(task.filters.size());
    Json states = Json::array();
    for (const Transition& step : transitions_of(plan.way, filters))
        states.push_back(
            {{"from", step.from}, {"to", step.to}, {"how", step.how}, {"times", step.times}});
    return {{"operation", "explain filter"},
            {"width", task.image.width},
            {"height", task.image.height},
            {"filters", filters},
            {"margin", margin_of(task)},
            {"outputs", task.features().size()},
            {"states", states},
            {"plan", Json::parse(distributed::to_json(plan))}};
}

} // namespace

std::vector<Parameter> explain_filter_parameters() {
    static FilterOptions options; // what parameters refer to
    static Record record = record_of(options);
    static std::map<std::string, std::string> defaults;
    std::vector<Parameter> all;
    for (const char* name : options_explained) {
        const Field& field = record[name];
        all.push_back({.name = field.name,
                       .value = field.value_name,
                       .fallback = defaults[name] = field.text(),
                       .help = field.meaning,
                       .choices = field.choices});
    }
    return all;
}

int explain_filter(const Values& values) {
    if (values.has("machine") && is_platform(values.text("machine"))) {
        throw InvalidTask(
            fmt::format("--machine {}: a platform tells nothing of filters, expected a "
                        "profile",
                        values.text("machine")));
    }
    const FilterTask task = task_of(values);
    const Placement placement = placement_of(values, task.ranks);
    Progress progress(true);
    progress.say(fmt::format("planning for {} ranks of {}", task.ranks, placement.machine().name));
    const FilterPlan plan =
        distributed::usual_filter_plan(task, {.machine = placement.machine(),
                                              .element_size = gray_f32.size,
                                              .nodes = placement.nodes,
                                              .within_node = placement.within_node,
                                              .model = values.text("model")});
    progress.clear();
    const std::size_t most = values.flag("all") ? std::numeric_limits<std::size_t>::max() : 12;
    print_text(values.flag("json") ? sextant::to_text(to_json(plan, task)) + "\n"
                                   : to_text(plan, task, most));
    return 0;
}

} // namespace sextant::command
