// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/commands.hpp"
#include "sextant/command/composite.hpp"
#include "sextant/command/explain_filter.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/command/placement.hpp"
#include "sextant/command/scan_cases.hpp"
#include "sextant/command/schedule_parameters.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/progress.hpp"
#include "sextant/core/text.hpp"
#include "sextant/kernel/fold/catalogue.hpp"
#include "sextant/planner/scan_choice.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::command {

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

using Kind = scan::Distribution::Kind;

constexpr int most_cores = 4096;

/// Parses the name of a distribution, or a file of recorded times.
scan::Distribution times_from(const std::string& text) {
    for (const Kind kind : {Kind::constant, Kind::exponential, Kind::correlated}) {
        if (text == name(kind))
            return {.kind = kind};
    }
    if (!std::filesystem::exists(text)) {
        throw InvalidTask(fmt::format("--times {}: expected constant, exponential, correlated or a "
                                      "file of seconds",
                                      text));
    }
    return {.kind = Kind::recorded, .mean = 0, .times = read_times(text)};
}

/// Parses "1,1.5,2": the speed-up of an application on one core, two, ...
std::vector<double> speedup_from(const std::string& text) {
    std::vector<double> speedup;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) {
        constexpr double least = 1e-3, most = 1e6;
        const double factor = parsed_number<double>(part).value_or(0);
        if (factor < least || factor > most || std::ssize(speedup) == most_cores)
            throw InvalidTask(fmt::format("--speedup {}: expected up to {} numbers from {} to {}, "
                                          "as 1,1.5,2",
                                          shortened(text), most_cores, least, most));
        speedup.push_back(factor);
    }
    return speedup;
}

/// The parameters of `explain scan`.
std::vector<Parameter> scan_parameters() {
    return {{.name = "values",
             .type = Type::integer,
             .value = "N",
             .fallback = "64",
             .help = "scan: of the series",
             .least = 1,
             .most = 1 << 20},
            {.name = "cores",
             .type = Type::integer,
             .value = "N",
             .fallback = "8",
             .help = "scan: to share among ranks, threads and the operator",
             .least = 1,
             .most = most_cores},
            {.name = "times",
             .value = "HOW",
             .fallback = "exponential",
             .help = "scan: constant, correlated, ... or a file of seconds"},
            {.name = "speedup",
             .value = "X,X",
             .fallback = "1",
             .help = "scan: of one application on 1, 2, ... cores"}};
}

/// Prints the configuration that a series scan would use, and all others, by rehearsal.
int explain_scan(const Values& values) {
    const planner::ScanChoice choice =
        planner::choose_scan({.values = values.integer("values"),
                              .cores = static_cast<int>(values.integer("cores")),
                              .times = times_from(values.text("times")),
                              .speedup = speedup_from(values.text("speedup"))});
    const std::size_t rows = values.flag("all") ? std::numeric_limits<std::size_t>::max() : 12;
    const std::string text =
        values.flag("json") ? planner::to_json(choice) + "\n" : planner::to_text(choice, rows);
    print_text(text);
    return 0;
}

int run_explain(const Values& values) {
    const std::string what = values.text("what");
    if (what != "composite")
        refuse_given(values, {"operator", "element", "distributed", "density", "radices", "window"},
                     "it is of explain composite");
    if (what != "filter")
        refuse_given(values,
                     {"sigma", "derivatives", "kernel", "truncate", "before", "grid", "distribute"},
                     "it is of explain filter");
    if (what == "scan")
        refuse_given(values, {"ranks", "size", "model", "transport", "ranks-per-node", "machine"},
                     "it is of explain composite and filter");
    else
        refuse_given(values, {"values", "cores", "times", "speedup"}, "it is of explain scan");
    return what == "scan"     ? explain_scan(values)
           : what == "filter" ? explain_filter(values)
                              : explain_composite(values);
}

/// Parameters of all operations of `explain`.
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

} // namespace sextant::command
