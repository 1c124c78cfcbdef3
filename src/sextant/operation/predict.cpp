// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/predict.hpp"

#include "sextant/collective/submachine.hpp"
#include "sextant/kernel/catalogue.hpp"
#include "sextant/machine/profile_file.hpp"
#include "sextant/model/c3.hpp"
#include "sextant/model/c3_rounds.hpp"
#include "sextant/operation/families.hpp"
#include "sextant/operation/tuning.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::operation {

namespace {

/// One model's answer: a prediction, or why it has none.
struct Answer {
    const model::Model* model;
    model::Prediction prediction;
    std::string refusal;
};

/// Where groups lie, if they are submachines of the plane of processors that C³ charges.
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

/// Every model that was asked for, in the order of the catalogue.
std::vector<Answer> answers(const std::string& name, const model::Question& question,
                            const std::optional<Grid>& grid) {
    if (name != "all")
        return {ask(model::find(name), question, grid)};
    std::vector<Answer> all;
    for (const model::Model& model : model::catalogue())
        all.push_back(ask(model, question, grid));
    return all;
}

int run_predict(const Values& values) {
    const machine::Profile machine = machine::read_profile(values.text("machine"));
    ScheduleRequest request;
    request.family = values.text("family");
    request.algorithm = values.text("algorithm");
    request.tuning = tuning_from(values);
    request.ranks = static_cast<int>(values.integer("ranks"));
    request.elements = values.integer("elements");
    const NamedSchedule made = make_schedule(request);
    const std::string operator_name = values.text("operator"),
                      element_name = values.text("element");
    const std::vector<Answer> all = answers(values.text("model"),
                                            {.schedule = made.schedule,
                                             .machine = machine,
                                             .element_size = values.integer("element-size"),
                                             .operator_name = operator_name,
                                             .element_name = element_name},
                                            made.grid);
    if (values.flag("json")) {
        nlohmann::ordered_json json{{"operation", "predict"},       {"family", request.family},
                                    {"algorithm", made.title},      {"ranks", request.ranks},
                                    {"elements", request.elements}, {"machine", machine.name}};
        for (const Answer& answer : all)
            json["predictions"].push_back(json_of(answer));
        std::fputs(
            (json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n").c_str(),
            stdout);
    } else {
        std::fputs(
            fmt::format("{} on {} ranks of {}\n", made.title, request.ranks, machine.name).c_str(),
            stdout);
        for (const Answer& answer : all)
            std::fputs(text_of(answer).c_str(), stdout);
    }
    const bool any = std::any_of(all.begin(), all.end(),
                                 [](const Answer& answer) { return answer.refusal.empty(); });
    return any ? 0 : 1;
}

} // namespace

Operation predict_operation() {
    return {"predict",
            "how long a schedule would take on a machine, by one cost model or all",
            "  sextant predict compositing --algorithm radix-k --radices 8,4 --ranks 32 \\\n"
            "      --machine machines/ddr-infiniband.json",
            {family_parameter(),
             {.name = "algorithm", .value = "NAME", .help = "one of them; default: the first"},
             radices_parameter(),
             window_parameter(),
             {.name = "ranks",
              .type = Type::integer,
              .value = "N",
              .fallback = "8",
              .help = "how many take part",
              .least = 1,
              .most = 16384},
             {.name = "elements",
              .type = Type::integer,
              .value = "N",
              .fallback = "1048576",
              .help = "pixels of an image, or values",
              .least = 1},
             {.name = "element-size",
              .type = Type::integer,
              .value = "BYTES",
              .fallback = "16",
              .help = "of one element",
              .least = 1,
              .most = 1 << 20},
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
              .help = "the profile of a machine (JSON)",
              .required = true},
             {.name = "model",
              .value = "NAME",
              .fallback = "all",
              .help = "a cost model (sextant list models), or all"},
             {.name = "json", .type = Type::flag, .help = "as JSON"}},
            run_predict,
            true};
}

} // namespace sextant::operation
