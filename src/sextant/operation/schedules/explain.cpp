// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/schedules/explain.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/progress.hpp"
#include "sextant/kernel/fold/catalogue.hpp"
#include "sextant/operation/composite/element.hpp"
#include "sextant/operation/filter/explain_filter.hpp"
#include "sextant/operation/image_size.hpp"
#include "sextant/operation/outputs.hpp"
#include "sextant/operation/schedules/explain_scan.hpp"
#include "sextant/operation/schedules/placement.hpp"
#include "sextant/operation/schedules/tuning.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::operation {

namespace {

planner::Work work_of(const Values& values, const Placement& placement) {
    const Operator& op = kernel::find(
        values.text("operator"), element_named(values.text("element"), values.text("operator")));
    return {.operator_name = std::string(op.name),
            .element_name = std::string(channels(op.element)),
            .element_size = op.element.size,
            .folds_at_once = !op.exact_when_split,
            .nodes = placement.nodes,
            .within_node = placement.within_node,
            .model = values.text("model"),
            .density = static_cast<double>(values.integer("density")) / 100};
}

std::string to_text(const planner::Alternative& alternative) {
    std::string text = fmt::format("{:<34}", alternative.way.text());
    if (const auto& e = alternative.expected) {
        text += fmt::format(" {:>9}", report::to_text(e->seconds));
        text += e->low == e->high
                    ? fmt::format(" {:22}", "")
                    : fmt::format(" {:<22}", fmt::format("[{}, {}]", report::to_text(e->low),
                                                         report::to_text(e->high)));
    } else {
        text += fmt::format(" {:>9} {:22}", "", "");
    }
    text += fmt::format(" {:>9}", alternative.bound ? report::to_text(*alternative.bound) : "");
    if (!alternative.remark.empty())
        text += "  " + alternative.remark;
    while (text.back() == ' ')
        text.pop_back();
    return text + "\n";
}

void print(const planner::Plan& plan, const std::string& question, std::size_t most) {
    std::string text = fmt::format("{}\n{}: {}\n", question, plan.text(), plan.reason);
    if (!plan.alternatives.empty()) {
        text += fmt::format("  {:<34} {:>9} {:<22} {:>9}\n", "", "predicted", "", "at least");
        const std::size_t shown = std::min(most, plan.alternatives.size());
        for (std::size_t i = 0; i < shown; ++i)
            text += "  " + to_text(plan.alternatives[i]);
        if (shown < plan.alternatives.size())
            text += fmt::format("  ... and {} more (--all)\n", plan.alternatives.size() - shown);
    }
    print_text(text);
}

int explain_composite(const Values& values) {
    const int ranks = static_cast<int>(values.integer("ranks"));
    const ImageSize size = image_size("size", values.text("size"));
    const compositing::Task task = compositing::one_image_each(
        ranks, size.width * size.height,
        values.flag("distributed") ? compositing::Task::distributed : 0);
    const Placement placement = placement_of(values, ranks);
    Progress progress(true);
    progress.say(fmt::format("planning for {} ranks of {}", ranks, placement.machine().name));
    const planner::Plan plan =
        placement.planner->plan(task, work_of(values, placement), tuning_from(values));
    progress.clear();
    if (values.flag("json")) {
        print_text((planner::to_json(plan) + "\n"));
        return 0;
    }
    const std::string question = fmt::format(
        "composite {} images of {}x{} ({} on {}), {}, on {}", ranks, size.width, size.height,
        values.text("operator"), values.text("element"),
        values.flag("distributed") ? "left distributed" : "collected on rank 0", plan.machine);
    print(plan, question, values.flag("all") ? plan.alternatives.size() : 12);
    return 0;
}

std::vector<Parameter> composite_parameters() {
    return {{.name = "what",
             .type = Type::choice,
             .value = "WHAT",
             .fallback = "composite",
             .help = "which operation",
             .positional = true,
             .choices = {"composite", "scan", "filter"}},
            {.name = "ranks",
             .type = Type::integer,
             .value = "N",
             .fallback = "8",
             .help = "how many bring an image, or share it",
             .least = 1,
             .most = 16384},
            {.name = "size", .value = "WxH", .fallback = "1024x1024", .help = "of an image"},
            {.name = "operator", .value = "NAME", .fallback = "over", .help = "how to blend"},
            {.name = "element",
             .type = Type::choice,
             .value = "TYPE",
             .fallback = "f32",
             .help = "what colours are blended as",
             .choices = {"f32", "f16", "u8"}},
            {.name = "distributed",
             .type = Type::flag,
             .help = "the picture stays in pieces; otherwise rank 0 collects it"},
            {.name = "model",
             .value = "NAME",
             .help = "a cost model; default: the richest that the profile feeds"},
            {.name = "density",
             .type = Type::integer,
             .value = "PERCENT",
             .fallback = "100",
             .help = "of an image something was drawn in",
             .least = 0,
             .most = 100},
            radices_parameter(),
            window_parameter(),
            {.name = "all", .type = Type::flag, .help = "every candidate, not the best twelve"},
            {.name = "json", .type = Type::flag, .help = "as JSON"}};
}

int run_explain(const Values& values) {
    const std::string what = values.text("what");
    if (what != "composite")
        refuse_given(values, {"operator", "element", "density", "radices", "window"},
                     "it is of explain composite");
    if (what != "filter")
        refuse_given(values,
                     {"sigma", "derivatives", "kernel", "truncate", "before", "grid", "filters",
                      "collectives", "pixel-time"},
                     "it is of explain filter");
    if (what == "scan")
        refuse_given(
            values,
            {"ranks", "size", "distributed", "model", "transport", "ranks-per-node", "machine"},
            "it is of explain composite and filter");
    else
        refuse_given(values, {"values", "cores", "times", "speedup"}, "it is of explain scan");
    return what == "scan"     ? explain_scan(values)
           : what == "filter" ? explain_filter(values)
                              : explain_composite(values);
}

/// What all operations share, those of composite, those of scan, those of filter.
std::vector<Parameter> parameters() {
    std::vector<Parameter> all = composite_parameters();
    for (std::vector<Parameter> some :
         {placement_parameters(), scan_parameters(), explain_filter_parameters()})
        all.insert(all.end(), some.begin(), some.end());
    return all;
}

} // namespace

Operation explain_operation() {
    return {"explain",
            "what would be chosen, and why: all candidates with their predictions",
            "  sextant explain composite --ranks 64 --machine machines/ddr-infiniband.json",
            parameters(),
            run_explain,
            true};
}

} // namespace sextant::operation
