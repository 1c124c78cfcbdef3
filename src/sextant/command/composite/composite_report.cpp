// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/composite/composite.hpp"
#include "sextant/command/pages/overview.hpp"
#include "sextant/command/pages/plan_report.hpp"
#include "sextant/report/graph_drawing.hpp"
#include "sextant/report/page.hpp"
#include "sextant/report/run_comparison.hpp"
#include "sextant/report/text.hpp"

#include <fmt/format.h>

namespace sextant::command {

namespace {

std::string images_on_ranks(const CompositeSummary& summary) {
    const auto images = static_cast<std::int64_t>(summary.inputs.size());
    const std::string on =
        summary.transport == "threads"
            ? report::counted(summary.ranks, "thread")
            : fmt::format("{} of {}",
                          summary.ranks == 1 ? "1 process"
                                             : fmt::format("{} processes", summary.ranks),
                          summary.transport);
    return fmt::format("{} of {}x{} on {}", report::counted(images, "image"), summary.shape.width,
                       summary.shape.height, on);
}

std::string blending(const CompositeSummary& summary) {
    return fmt::format("{} on {}", summary.blend, summary.element);
}

Schedule schedule_of(const CompositeSummary& summary) {
    return make_schedule(summary.task.ranks, [&](int rank) {
        const compositing::Configuration& configuration = summary.plan.configuration;
        return compositing::program(*configuration.algorithm, summary.task, configuration.tuning,
                                    rank);
    });
}

} // namespace

report::Recording measured(const CompositeSummary& summary) {
    return {.name = summary.plan.text(),
            .origin = report::Origin::measured,
            .ranks = summary.ranks,
            .element_size = summary.element_size,
            .clocks = summary.clocks,
            .aligned = summary.aligned,
            .lent = summary.transport == "threads" || summary.sharing.shares,
            .trace = summary.trace};
}

std::string to_text(const CompositeSummary& summary) {
    std::string text =
        fmt::format("{}: {}, {}\n", summary.output, images_on_ranks(summary), blending(summary));
    text += fmt::format("{} ({})\n", summary.plan.text(), summary.plan.reason);
    if (!summary.sharing.reason.empty())
        text += within_nodes(summary.sharing) + "\n";
    return text + phases_text(summary.phases);
}

std::string to_json(const CompositeSummary& summary) {
    Record record = results_of("composite");
    record.include({{"output", summary.output},
                    {"inputs", summary.inputs},
                    {"width", summary.shape.width},
                    {"height", summary.shape.height},
                    {"ranks", summary.ranks},
                    {"transport", summary.transport}});
    if (!summary.sharing.reason.empty())
        record.add_result("shared_memory", record_of(summary.sharing));
    record
        .include({{"operator", summary.blend},
                  {"element", summary.element},
                  {"association", summary.association},
                  {"background", summary.background},
                  {"plan", json_of(summary.plan)},
                  {"seconds", seconds_of(summary.phases)}})
        .include(provenance_of_run(summary.warnings));
    return sextant::to_json(record);
}

std::string to_page(const CompositeSummary& summary, const Image& picture) {
    report::Page page;
    page.title = "Sextant: " + summary.output;
    page.subtitle = images_on_ranks(summary);
    page.picture = {png_of(picture),
                    report::counted(static_cast<std::int64_t>(summary.inputs.size()), "image") +
                        " blended into one",
                    summary.output};
    page.facts = {
        {"Images", images_on_ranks(summary)},
        {"Algorithm", summary.plan.text()},
        {"Why", summary.plan.reason},
        {"Operator", fmt::format("{}, association {}", blending(summary), summary.association)},
        {"Background", summary.background.empty() ? "none" : summary.background}};
    if (!summary.sharing.reason.empty())
        page.facts.push_back({"Exchange", within_nodes(summary.sharing)});
    if (summary.ranks > most_ranks_drawn)
        page.facts.push_back(
            {"Not shown", fmt::format("the schedule of {} ranks, because this page shows schedules "
                                      "of up to {}; sextant draw has no such limit",
                                      summary.ranks, most_ranks_drawn)});
    add_provenance(page.facts, summary.warnings);
    page.phases = summary.phases;
    const planner::CompositingPlan& plan = summary.plan;
    page.sections.push_back(report::alternatives_section(alternatives_of(
        plan,
        fmt::format("predicted by {} on {}; measured: {}", plan.model, plan.machine, summary.frame),
        summary.trace.duration)));
    const std::vector<report::Recording> recordings = with_prediction(
        measured(summary), summary.prediction ? &summary.prediction->timeline : nullptr);
    page.sections.push_back(report::timeline_section(recordings));
    page.sections.push_back(report::causes_section(recordings));
    page.sections.push_back(report::traffic_section(recordings.back()));
    if (summary.ranks <= most_ranks_drawn) {
        report::DrawOptions drawing;
        drawing.title = summary.plan.text();
        page.figures.push_back({report::draw(schedule_of(summary), drawing),
                                "The schedule: the messages between ranks."});
    }
    page.next_steps = {
        {"Composite your own images, given front to back",
         "sextant composite front.exr middle.exr back.exr -o frame.exr"},
        {"Run on several processes", "mpirun -n 2 sextant composite part*.exr -o frame.exr"},
        {"All options", "sextant composite --help"}};
    return report::render(page);
}

} // namespace sextant::command
