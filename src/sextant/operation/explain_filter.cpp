// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/explain_filter.hpp"

#include "sextant/core/error.hpp"
#include "sextant/operation/filter_parameters.hpp"
#include "sextant/operation/filter_plan.hpp"
#include "sextant/planner/usual.hpp"
#include "sextant/report/text.hpp"

#include <cstdio>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::operation {

namespace {

FilterTask task_from(const Values& values) {
    const std::string size = values.text("size"), element = values.text("element");
    if (element == "f16")
        throw InvalidTask("--element f16: filters take f32 or u8");
    const Sides sides =
        sides_from("--size", size.find('x') == std::string::npos ? size + "x" + size : size);
    constexpr std::int64_t longest = 1 << 20;
    if (sides.columns > longest || sides.rows > longest)
        throw InvalidTask(fmt::format("--size {}: expected sides of 1 to {}", size, longest));
    return {filter_from(values),
            {sides.columns, sides.rows},
            element == "u8" ? gray_u8 : gray_f32,
            static_cast<int>(values.integer("ranks"))};
}

std::string to_text(const FilterTask& task, const FilterPlan& plan, const std::string& size) {
    std::string text =
        fmt::format("filter {} of {} at sigma {} on {}: {}, collected on rank 0, on {}\n", size,
                    task.element.name, task.filter.sigma, report::counted(task.ranks, "rank"),
                    fmt::join(task.filter.features, ", "), plan.machine);
    text += fmt::format("{}x{} tiles: {}\n", plan.columns, plan.rows_of_tiles, plan.reason);
    for (const FilterPlan::Alternative& grid : plan.alternatives) {
        text += fmt::format("  {:<16}", fmt::format("{}x{}", grid.columns, grid.rows_of_tiles));
        text += fmt::format(" {:>9}", grid.seconds ? report::to_text(*grid.seconds) : "");
        text += grid.remark.empty() ? "\n" : "  " + grid.remark + "\n";
    }
    return text;
}

} // namespace

std::vector<int> nodes_of(const Values& values, int ranks) {
    std::vector<int> nodes;
    const bool threads = values.text("transport") == "threads";
    if (!threads && !values.has("ranks-per-node"))
        return nodes;
    const int each = threads ? ranks : static_cast<int>(values.integer("ranks-per-node"));
    for (int rank = 0; rank < ranks; ++rank)
        nodes.push_back(rank / each);
    return nodes;
}

int explain_filter(const Values& values) {
    const FilterTask task = task_from(values);
    const planner::UsualPlanner usual =
        planner::usual_planner(values.text("transport"), values.text("machine"));
    for (const std::string& warning : usual.warnings)
        std::fputs(fmt::format("sextant: warning: {}\n", warning).c_str(), stderr);
    const bool threads = values.text("transport") == "threads";
    const std::vector<int> nodes = nodes_of(values, task.ranks);
    const FilterPlan plan = plan_filter(
        task, {.machine = usual.planner->machine(),
               .element_size = gray_f32.size,
               .kernel_names = filter_kernels,
               .nodes = nodes,
               .within_node = threads ? machine::Link::same_process : machine::Link::same_node,
               .model = values.text("model")});
    const std::string text =
        values.flag("json") ? to_json(plan) + "\n" : to_text(task, plan, values.text("size"));
    std::fputs(text.c_str(), stdout);
    return 0;
}

} // namespace sextant::operation
