// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/explain_filter.hpp"

#include "sextant/command/filter.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/command/placement.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"
#include "sextant/distributed/filter_plan.hpp"
#include "sextant/planner/filter_choice.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::command {

namespace {

using planner::FilterCandidate;
using planner::FilterChoice;
using planner::FilterQuestion;
using planner::FilterTransition;

/// The margins of all filters, with the last filter repeated `times` times.
std::vector<Elements> margins_of(const distributed::Filters& filters, std::size_t times) {
    std::vector<Elements> margins;
    for (const distributed::Filter& filter : filters) {
        const kernel::FilterBank bank = distributed::bank_of(filter);
        margins.push_back(std::max(bank.reach_x(), bank.reach_y()));
    }
    margins.resize(margins.size() - 1 + times, margins.back());
    return margins;
}

FilterQuestion question_of(const Values& values, const Placement& placement) {
    const distributed::Filters filters = filters_from(values);
    const ImageSize size = image_size("size", values.text("size"));
    FilterQuestion question;
    question.task = {size.width, size.height,
                     margins_of(filters, static_cast<std::size_t>(values.integer("filters"))),
                     static_cast<int>(filters.back().features.size()), !values.flag("distributed")};
    question.ranks = static_cast<int>(values.integer("ranks"));
    if (values.has("grid")) {
        const ImageSize grid = image_size("grid", values.text("grid"));
        question.columns = static_cast<int>(grid.width);
        question.rows = static_cast<int>(grid.height);
    }
    if (values.has("collectives")) {
        std::istringstream list(values.text("collectives"));
        for (std::string name; std::getline(list, name, ',');)
            question.collectives.push_back(name);
    }
    question.work = values.has("pixel-time") ? values.number("pixel-time") : 0;
    question.model = values.text("model");
    question.nodes = placement.nodes;
    question.within_node = placement.within_node;
    return question;
}

/// The plan of `sextant filter` if all ranks can read the file. Nothing for questions that the
/// command has no equivalent of: a repeated filter, or tiles that stay distributed or are given.
std::optional<distributed::FilterPlan> plan_of_command(const Values& values,
                                                       const FilterQuestion& question,
                                                       const machine::Profile& machine) {
    constexpr int most_ranks = 1024;
    const filtering::Task& task = question.task;
    if (values.integer("filters") > 1 || !task.collect || question.columns > 0 ||
        question.ranks > most_ranks)
        return std::nullopt;
    return distributed::usual_filter_plan({.filters = filters_from(values),
                                           .image = {task.width, task.height},
                                           .ranks = question.ranks},
                                          {.machine = machine,
                                           .element_size = gray_f32.size,
                                           .nodes = question.nodes,
                                           .within_node = question.within_node,
                                           .model = question.model});
}

/// Describes the states that the image passes through.
std::string states_of(const distributed::FilterPlan& plan, std::size_t filters) {
    const filtering::Way& way = plan.way;
    const auto times = [](std::size_t n) { return n > 1 ? fmt::format(", {} times", n) : ""; };
    if (way.ranks() == 1)
        return fmt::format("  in the file -> on rank 0: it reads it\n"
                           "  on rank 0 -> on rank 0: filter{}\n",
                           times(filters));
    const std::vector<filtering::Retiling> all = way.all_tiles();
    std::string tiles, text;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const std::string now = fmt::format("in {}x{} tiles", all[i].columns, all[i].rows);
        if (i > 0)
            text +=
                fmt::format("  {} -> {}: dealt out anew, with what lies around them\n", tiles, now);
        else if (way.distribute)
            text +=
                fmt::format("  in the file -> on rank 0 -> {}: {}\n", now, way.distribute->name);
        else
            text += fmt::format("  in the file -> {}: each rank reads its own\n", now);
        const auto first = static_cast<std::size_t>(all[i].filter);
        const std::size_t end =
            i + 1 < all.size() ? static_cast<std::size_t>(all[i + 1].filter) : filters;
        text += i > 0 ? fmt::format("  {} -> {}: filter\n", now, now) : "";
        if (const std::size_t more = end - first - (i > 0 ? 1 : 0); more > 0)
            text += fmt::format("  {} -> {}: borders, filter{}\n", now, now, times(more));
        tiles = now;
    }
    return text + fmt::format("  {} -> on rank 0: {}\n", tiles,
                              way.collect ? way.collect->name : "planes straight to it");
}

std::string to_text(const distributed::FilterPlan& plan, std::size_t filters, std::size_t most) {
    std::string text = fmt::format("sextant filter, of a file that all ranks find: {}: {}\n",
                                   distributed::text_of(plan.way), plan.reason);
    text += states_of(plan, filters);
    const std::size_t shown = std::min(most, plan.alternatives.size());
    for (std::size_t i = 0; i < shown; ++i) {
        const distributed::FilterPlan::Alternative& one = plan.alternatives[i];
        text += fmt::format("  {:<60} {:>9}", distributed::text_of(one.way),
                            one.seconds ? report::to_text(*one.seconds) : "");
        text += one.remark.empty() ? "\n" : "  " + one.remark + "\n";
    }
    if (shown < plan.alternatives.size())
        text += fmt::format("  ... and {} more (--all)\n", plan.alternatives.size() - shown);
    return text;
}

std::string to_text(const FilterTransition& step) {
    std::string text = fmt::format("  {} -> {}: {}, {}", step.from.text(), step.to.text(), step.how,
                                   report::to_text(step.seconds));
    if (step.times > 1)
        text += fmt::format(", {} times", step.times);
    return text + "\n";
}

std::string name_of(const FilterCandidate& candidate) {
    return candidate.way.ranks() == 1 ? "rank 0 alone" : candidate.way.text();
}

std::string to_text(const FilterCandidate& candidate) {
    const auto seconds = [](Seconds part) { return part > 0 ? report::to_text(part) : "-"; };
    return fmt::format("  {:<52} {:>9} {:>9} {:>9} {:>9} {:>9}{}\n", name_of(candidate),
                       report::to_text(candidate.seconds()), seconds(candidate.distribute),
                       seconds(candidate.exchange), seconds(candidate.work),
                       seconds(candidate.collect), candidate.at_least ? "  or more" : "");
}

std::string to_text(const std::vector<FilterChoice::PassedOver>& grids) {
    if (grids.empty())
        return "";
    return fmt::format("  {} of fewer ranks not walked: {} or more by what is done alone\n",
                       report::counted(static_cast<int>(grids.size()), "grid"),
                       report::to_text(grids.front().at_least));
}

std::string notes(const std::vector<std::string>& remarks, std::size_t most) {
    const std::size_t shown = std::min(most, remarks.size());
    std::string text;
    for (std::size_t i = 0; i < shown; ++i)
        text += "note: " + remarks[i] + "\n";
    if (shown < remarks.size())
        text += fmt::format("note: ... and {} more (--all)\n", remarks.size() - shown);
    return text;
}

std::string to_text(const FilterChoice& choice, const FilterQuestion& question, std::size_t most) {
    const filtering::Task& task = question.task;
    std::string text = fmt::format(
        "filter {}x{} pixels {} time{}, margin {}, {} output{} {}, on {} by {}\n{}: {}", task.width,
        task.height, task.margins.size(), task.margins.size() == 1 ? "" : "s", task.margins.front(),
        task.outputs, task.outputs == 1 ? "" : "s",
        task.collect ? "collected on rank 0" : "left distributed", choice.machine, choice.model,
        name_of(choice.best()), report::to_text(choice.best().seconds()));
    if (choice.played)
        text += fmt::format("; as one schedule {}", report::to_text(*choice.played));
    text += question.work > 0
                ? "\n"
                : fmt::format("\nwithout --pixel-time all {} ranks take part, and filters' own "
                              "work is left out\n",
                              question.ranks);
    text += fmt::format("states, {} in all:\n", report::to_text(choice.path_seconds));
    for (const FilterTransition& step : choice.path)
        text += to_text(step);
    text += fmt::format("  {:<52} {:>9} {:>9} {:>9} {:>9} {:>9}\n", "candidates", "in all",
                        "distrib.", "borders", "work", "collect");
    const std::size_t shown = std::min(most, choice.candidates.size());
    for (std::size_t i = 0; i < shown; ++i)
        text += to_text(choice.candidates[i]);
    if (shown < choice.candidates.size())
        text += fmt::format("  ... and {} more (--all)\n", choice.candidates.size() - shown);
    return text + to_text(choice.passed_over) + notes(choice.remarks, most);
}

using Json = nlohmann::ordered_json;

Json to_json(const FilterCandidate& candidate) {
    const auto name = [](const collective::Algorithm* row) {
        return row ? Json(row->name) : Json();
    };
    return {{"columns", candidate.way.columns},
            {"rows", candidate.way.rows},
            {"distribute", name(candidate.way.distribute)},
            {"collect", name(candidate.way.collect)},
            {"seconds", candidate.seconds()},
            {"distribute_seconds", candidate.distribute},
            {"exchange_seconds", candidate.exchange},
            {"work_seconds", candidate.work},
            {"collect_seconds", candidate.collect},
            {"at_least", candidate.at_least}};
}

Json to_json(const FilterChoice::PassedOver& grid) {
    return {{"columns", grid.grid.columns}, {"rows", grid.grid.rows}, {"seconds", grid.at_least}};
}

Json to_json(const FilterChoice& choice, const FilterQuestion& question,
             const std::optional<distributed::FilterPlan>& command) {
    Json states = Json::array(), candidates = Json::array(), passed_over = Json::array();
    for (const FilterTransition& step : choice.path) {
        states.push_back({{"from", step.from.text()},
                          {"to", step.to.text()},
                          {"how", step.how},
                          {"seconds", step.seconds},
                          {"times", step.times}});
    }
    for (const FilterCandidate& candidate : choice.candidates)
        candidates.push_back(to_json(candidate));
    for (const FilterChoice::PassedOver& grid : choice.passed_over)
        passed_over.push_back(to_json(grid));
    return {{"operation", "explain filter"},
            {"width", question.task.width},
            {"height", question.task.height},
            {"filters", question.task.margins.size()},
            {"margin", question.task.margins.front()},
            {"outputs", question.task.outputs},
            {"machine", choice.machine},
            {"model", choice.model},
            {"played_seconds", choice.played ? Json(*choice.played) : Json()},
            {"states", states},
            {"states_seconds", choice.path_seconds},
            {"candidates", candidates},
            {"not_walked", passed_over},
            {"command", command ? Json::parse(to_json(*command)) : Json()},
            {"remarks", choice.remarks}};
}

} // namespace

std::vector<Parameter> explain_filter_parameters() {
    std::vector<Parameter> all = filter_parameters();
    const std::vector<Parameter> rest = {
        {.name = "grid",
         .value = "XxY",
         .help = "filter: columns x rows of tiles; default: to be chosen"},
        {.name = "filters",
         .type = Type::integer,
         .value = "N",
         .fallback = "1",
         .help = "filter: so often, on what was made before",
         .least = 1,
         .most = 100000},
        {.name = "collectives",
         .value = "NAME,NAME",
         .help = "filter: to choose from; default: all"},
        {.name = "pixel-time",
         .type = Type::number,
         .value = "S",
         .help = "filter: seconds that it works on one pixel",
         .least = 0,
         .most = 1}};
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
}

int explain_filter(const Values& values) {
    if (values.has("machine") && is_platform(values.text("machine"))) {
        throw InvalidTask(
            fmt::format("--machine {}: a platform tells nothing of filters, expected a "
                        "profile",
                        values.text("machine")));
    }
    const Placement placement = placement_of(values, static_cast<int>(values.integer("ranks")));
    const FilterQuestion question = question_of(values, placement);
    const FilterChoice choice = planner::choose_filter(question, placement.machine());
    const auto command = plan_of_command(values, question, placement.machine());
    const std::size_t most = values.flag("all") ? std::numeric_limits<std::size_t>::max() : 12;
    std::string text = values.flag("json")
                           ? sextant::to_text(to_json(choice, question, command)) + "\n"
                           : to_text(choice, question, most);
    if (command && !values.flag("json"))
        text += to_text(*command, question.task.margins.size(), most);
    print_text(text);
    return 0;
}

} // namespace sextant::command
