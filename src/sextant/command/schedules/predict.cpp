// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/tiles.hpp"
#include "sextant/command/commands.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/command/schedules/families.hpp"
#include "sextant/command/schedules/placement.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/json_value.hpp"
#include "sextant/kernel/fold/catalogue.hpp"
#include "sextant/model/c3.hpp"
#include "sextant/report/run_comparison.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

namespace sextant::command {

namespace {

/// A model's prediction, or the reason why the model has none.
struct Answer {
    const model::Model* model;
    model::Prediction prediction;
    std::string refusal;
};

/// Returns the submachines of groups of ranks for cost model C³ if the machine is a mesh of
/// processors with the shape of `grid`; else empty.
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

Json json_of(const Answer& answer) {
    const model::Prediction& prediction = answer.prediction;
    if (!answer.refusal.empty())
        return {{"model", answer.model->name}, {"cannot_express", answer.refusal}};
    return {{"model", answer.model->name},
            {"seconds", prediction.seconds},
            {"interval", Json::array({prediction.low, prediction.high})},
            {"remarks", prediction.remarks}};
}

/// Returns the predicted timelines as recordings.
std::vector<report::Recording> recordings_of(const std::vector<Answer>& answers,
                                             const NamedSchedule& made, Bytes element_size) {
    std::vector<report::Recording> all;
    for (const Answer& answer : answers) {
        if (answer.prediction.timeline.events.empty())
            continue; // the model refused, or is a superstep model without a timeline
        all.push_back({.name = fmt::format("{} by {}", made.title, answer.model->name),
                       .origin = report::Origin::predicted,
                       .ranks = made.ranks(),
                       .element_size = element_size,
                       .trace = answer.prediction.timeline});
    }
    return all;
}

struct PredictCommand {
    ScheduleRequest request = {.elements = 1 << 20};
    std::int64_t element_size = 16;
    std::string operator_name = "over", element = "f32", machine, model = "all";
    std::string trace;
    Reports reports;
};

Record record_of(PredictCommand& command) {
    Record record = record_of(command.request);
    record.add("element_size", command.element_size, "BYTES", "size of an element in bytes")
        .between(1, 1 << 20);
    record.add("operator", command.operator_name, "NAME",
               "operator to apply, as named in the profile");
    record.add("element", command.element, "TYPE", "pixel element type of the operator")
        .one_of({"f32", "f16", "u8"});
    record
        .add("machine", command.machine, "FILE",
             "profile or platform (JSON), or the name of an installed one")
        .file()
        .required();
    record.add("model", command.model, "NAME", "a cost model (sextant list models), or all");
    record
        .add("trace", command.trace, "FILE",
             "write the trace predicted by --model, as JSON (docs/trace.md)")
        .file();
    record.include(record_of(command.reports));
    record["report"].meaning = "write a page with the predicted traces of all models (HTML)";
    return record;
}

Effects effects_of(PredictCommand& command) {
    return effects_of(command.request);
}

/// Writes the trace of one model. Returns a page with the traces of all models.
std::string write_shown(const PredictCommand& command,
                        const std::vector<report::Recording>& recordings) {
    if (recordings.empty())
        throw InvalidTask("none of the chosen models predicts a timeline per rank: choose another "
                          "--model, or omit --trace and --report");
    if (!command.trace.empty())
        write_trace(command.trace, recordings.front());
    return report::render(report::comparison("Sextant: predicted", recordings));
}

std::string text_of(const Answer& answer) {
    if (!answer.refusal.empty())
        return fmt::format("{:<14} does not apply: {}\n", answer.model->name, answer.refusal);
    const model::Prediction& p = answer.prediction;
    std::string text = fmt::format("{:<14} {}", answer.model->name, report::to_text(p.seconds));
    if (p.low != p.high)
        text += fmt::format(" ({} to {})", report::to_text(p.low), report::to_text(p.high));
    text += "\n";
    for (const std::string& remark : p.remarks)
        text += fmt::format("{:<14}   {}\n", "", remark);
    return text;
}

/// Returns the answers of the named model, or of all models in the order of the catalogue.
std::vector<Answer> answers(const std::string& name, const model::Question& question,
                            const std::optional<Grid>& grid) {
    if (name != "all")
        return {ask(model::find(name), question, grid)};
    std::vector<Answer> all;
    for (const model::Model& model : model::catalogue())
        all.push_back(ask(model, question, grid));
    return all;
}

std::string to_json(const PredictCommand& command, const NamedSchedule& made,
                    const KnownMachine& known, const std::vector<Answer>& all) {
    const ScheduleRequest& request = command.request;
    Json predictions = Json::array();
    for (const Answer& answer : all)
        predictions.add(json_of(answer));
    return sextant::to_json(results_of("predict").include({{"family", request.family},
                                                           {"algorithm", made.title},
                                                           {"ranks", made.ranks()},
                                                           {"elements", made.elements},
                                                           {"machine", known.profile.name},
                                                           {"predictions", predictions}}));
}

int run_predict(const PredictCommand& command, const Call&) {
    if (!command.trace.empty() && command.model == "all")
        throw InvalidTask("--trace requires a single model: expected --model NAME");
    const Reports& reports = command.reports;
    const std::vector<std::string> outputs =
        files_named({command.trace, reports.json, reports.report});
    check_outputs(outputs,
                  files_named({command.machine,
                               is_file(command.request) ? command.request.family : std::string()}));
    const ScheduleRequest& request = command.request;
    const NamedSchedule made = make_schedule(request);
    const KnownMachine known = known_machine(command.machine, made.ranks());
    if (!known.profile.find_operator(command.operator_name, command.element))
        kernel::find_family(command.operator_name); // throws if the operator is unknown
    const bool timeline = !command.trace.empty() || !reports.report.empty();
    const Schedule schedule = made.schedule();
    const model::Question question{.schedule = schedule,
                                   .machine = known.profile,
                                   .element_size = command.element_size,
                                   .operator_name = command.operator_name,
                                   .element_name = command.element,
                                   .nodes = known.nodes,
                                   .wires = known.wires ? &*known.wires : nullptr,
                                   .timeline = timeline};
    const std::vector<Answer> all =
        with_errors_of(request, [&] { return answers(command.model, question, made.grid); });
    std::string page, text;
    if (timeline)
        page = write_shown(command, recordings_of(all, made, command.element_size));
    if (command.trace != standard_output) {
        text = fmt::format("{} on {} of {}\n", made.title, report::counted(made.ranks(), "rank"),
                           known.profile.name);
        for (const Answer& answer : all)
            text += text_of(answer);
    }
    write_reports(reports, {}, to_json(command, made, known, all), text, page);
    const bool any = std::any_of(all.begin(), all.end(),
                                 [](const Answer& answer) { return answer.refusal.empty(); });
    return any ? 0 : 1;
}

} // namespace

Operation predict_operation() {
    return declare_command<PredictCommand>(
        "predict", "predict the time of a schedule on a machine, with cost models",
        "  sextant predict compositing --algorithm radix-k --radices 8,4 --ranks 32 \\\n"
        "      --machine ddr-infiniband",
        run_predict, RunOn::one_rank);
}

} // namespace sextant::command
