// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/tiles.hpp"
#include "sextant/command/commands.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/command/placement.hpp"
#include "sextant/command/schedule_parameters.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"
#include "sextant/kernel/fold/catalogue.hpp"
#include "sextant/model/c3.hpp"
#include "sextant/report/run_comparison.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::command {

namespace {

/// A model's prediction, or why it has none.
struct Answer {
    const model::Model* model;
    model::Prediction prediction;
    std::string refusal;
};

/// The positions of groups, if they are submachines of the mesh of processors in C³.
model::C3Reading reading_of(const std::optional<Grid>& grid, const model::Question& question) {
    if (!grid || !question.machine.c3)
        return {};
    const machine::Topology plane = model::machine_for(question);
    if (plane.shape != machine::Shape::mesh ||
        plane.extents != std::vector<int>{grid->columns, grid->rows})
        return {};
    model::C3Reading reading;
    reading.submachine = [grid = *grid](int, int group) {
        const collective::Submachine place = collective::submachine_of(grid, group);
        return model::Submachine{place.column, place.row, place.columns, place.rows};
    };
    return reading;
}

Answer ask(const model::Model& model, const model::Question& question,
           const std::optional<Grid>& grid) {
    try {
        if (model.predict == static_cast<decltype(model.predict)>(model::c3))
            return {&model, model::c3(question, reading_of(grid, question)), ""};
        return {&model, model.predict(question), ""};
    } catch (const model::CannotExpress& refusal) {
        return {&model, {}, refusal.what()};
    }
}

nlohmann::ordered_json json_of(const Answer& answer) {
    nlohmann::ordered_json json{{"model", answer.model->name}};
    if (!answer.refusal.empty()) {
        json["cannot_express"] = answer.refusal;
        return json;
    }
    json["seconds"] = answer.prediction.seconds;
    json["interval"] = {answer.prediction.low, answer.prediction.high};
    json["remarks"] = answer.prediction.remarks;
    return json;
}

/// The predicted timelines, as recordings.
std::vector<report::Recording> recordings_of(const std::vector<Answer>& answers,
                                             const NamedSchedule& made, Bytes element_size) {
    std::vector<report::Recording> all;
    for (const Answer& answer : answers) {
        if (answer.prediction.timeline.events.empty())
            continue; // refused, or a superstep model, which has no timeline
        all.push_back({.name = fmt::format("{} by {}", made.title, answer.model->name),
                       .origin = report::Origin::predicted,
                       .ranks = static_cast<int>(made.schedule.size()),
                       .element_size = element_size,
                       .trace = answer.prediction.timeline});
    }
    return all;
}

/// Writes the trace of one model, or a page of all.
void write_shown(const Values& values, const std::vector<report::Recording>& recordings) {
    if (recordings.empty())
        throw InvalidTask("no model that was asked says what ranks do when: expected another "
                          "--model, or neither --trace nor --report");
    if (values.has("trace"))
        write_trace(values.text("trace"), recordings.front());
    if (values.has("report"))
        write_text(values.text("report"),
                   report::render(report::comparison("Sextant: predicted", recordings)));
}

std::string text_of(const Answer& answer) {
    if (!answer.refusal.empty())
        return fmt::format("{:<14} cannot express it: {}\n", answer.model->name, answer.refusal);
    const model::Prediction& p = answer.prediction;
    std::string text = fmt::format("{:<14} {}", answer.model->name, report::to_text(p.seconds));
    if (p.low != p.high)
        text += fmt::format(" ({} to {})", report::to_text(p.low), report::to_text(p.high));
    text += "\n";
    for (const std::string& remark : p.remarks)
        text += fmt::format("{:<14}   {}\n", "", remark);
    return text;
}

/// The answers of the named model or of all, in the order of the catalogue.
std::vector<Answer> answers(const std::string& name, const model::Question& question,
                            const std::optional<Grid>& grid) {
    if (name != "all")
        return {ask(model::find(name), question, grid)};
    std::vector<Answer> all;
    for (const model::Model& model : model::catalogue())
        all.push_back(ask(model, question, grid));
    return all;
}

/// The output files for timelines.
std::vector<std::string> outputs_of(const Values& values) {
    if (values.has("trace") && values.text("model") == "all")
        throw InvalidTask("--trace is of one model: expected --model NAME beside it");
    return files_given(values, {"trace", "report"});
}

int run_predict(const Values& values) {
    const std::vector<std::string> shown = outputs_of(values);
    keep_inputs(files_given(values, {"machine"}), shown);
    check_outputs(shown, values.text("trace"));
    const ScheduleRequest request = schedule_request(values);
    const KnownMachine known = known_machine(values.text("machine"), request.ranks);
    const NamedSchedule made = make_schedule(request);
    const std::string operator_name = values.text("operator"),
                      element_name = values.text("element");
    if (!known.profile.find_operator(operator_name, element_name))
        kernel::find_family(operator_name); // throws if there is no such operator
    const std::vector<Answer> all = answers(values.text("model"),
                                            {.schedule = made.schedule,
                                             .machine = known.profile,
                                             .element_size = values.integer("element-size"),
                                             .operator_name = operator_name,
                                             .element_name = element_name,
                                             .nodes = known.nodes,
                                             .wires = known.wires ? &*known.wires : nullptr,
                                             .timeline = !shown.empty()},
                                            made.grid);
    if (!shown.empty())
        write_shown(values, recordings_of(all, made, values.integer("element-size")));
    if (std::find(shown.begin(), shown.end(), standard_output) != shown.end()) {
        // standard output is taken by a timeline
    } else if (values.flag("json")) {
        nlohmann::ordered_json json{
            {"operation", "predict"},       {"family", request.family},
            {"algorithm", made.title},      {"ranks", request.ranks},
            {"elements", request.elements}, {"machine", known.profile.name}};
        for (const Answer& answer : all)
            json["predictions"].push_back(json_of(answer));
        print_text((sextant::to_text(json) + "\n"));
    } else {
        print_text(fmt::format("{} on {} of {}\n", made.title,
                               report::counted(request.ranks, "rank"), known.profile.name));
        for (const Answer& answer : all)
            print_text(text_of(answer));
    }
    const bool any = std::any_of(all.begin(), all.end(),
                                 [](const Answer& answer) { return answer.refusal.empty(); });
    return any ? 0 : 1;
}

std::vector<Parameter> parameters() {
    std::vector<Parameter> all = schedule_parameters("1048576");
    const std::vector<Parameter> rest = {
        element_size_parameter(),
        {.name = "operator",
         .value = "NAME",
         .fallback = "over",
         .help = "what folds apply; its cost is the profile's"},
        {.name = "element",
         .type = Type::choice,
         .value = "TYPE",
         .fallback = "f32",
         .help = "the channels that it combines",
         .choices = {"f32", "f16", "u8"}},
        {.name = "machine",
         .type = Type::file,
         .value = "FILE",
         .help = "a profile or a platform (JSON), or the name of one that is shipped",
         .required = true},
        {.name = "model",
         .value = "NAME",
         .fallback = "all",
         .help = "a cost model (sextant list models), or all"},
        {.name = "json", .type = Type::flag, .help = "as JSON"},
        {.name = "trace",
         .type = Type::file,
         .value = "FILE",
         .help = "what ranks would do when, by that model: JSON, .otf2 (docs/trace.md)"},
        {.name = "report",
         .type = Type::file,
         .value = "FILE",
         .help = "the same by every model, as a page (HTML)"}};
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
}

} // namespace

Operation predict_operation() {
    return {"predict",
            "how long a schedule would take on a machine, by one cost model or all",
            "  sextant predict compositing --algorithm radix-k --radices 8,4 --ranks 32 \\\n"
            "      --machine machines/ddr-infiniband.json",
            parameters(),
            run_predict,
            true};
}

} // namespace sextant::command
