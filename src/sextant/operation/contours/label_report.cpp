// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/provenance.hpp"
#include "sextant/core/json.hpp"
#include "sextant/operation/contours/label_run.hpp"
#include "sextant/report/page.hpp"
#include "sextant/report/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::operation {

std::string to_text(const LabelSummary& summary) {
    const std::string strips =
        summary.strips == 1
            ? ""
            : fmt::format(", in {} strips of {} rows", summary.strips, summary.grid.height);
    return fmt::format(
        "{}: {} of {}x{} pixels, on {} of {}\n"
        "{}x{} tiles, merged by {} ({}){}\n"
        "read {:.1f} ms  label {:.1f} ms  write {:.1f} ms\n",
        summary.output, report::counted(summary.components, "component"), summary.shape.width,
        summary.shape.height, report::counted(summary.ranks, "rank"), summary.transport,
        summary.grid.columns, summary.grid.rows, summary.plan.pattern->name, summary.plan.reason,
        strips, summary.read * 1e3, summary.label * 1e3, summary.write * 1e3);
}

std::string to_page(const LabelSummary& summary) {
    report::Page page;
    page.title = "Sextant: " + summary.output;
    page.subtitle =
        fmt::format("{}: {}", summary.image, report::counted(summary.components, "component"));
    page.picture = {summary.picture, "Components in colours over the image",
                    fmt::format("{}, each in a colour; of many some look alike.",
                                report::counted(summary.components, "component"))};
    const kernel::Connection connection = summary.connection;
    page.facts = {
        {"Image",
         fmt::format("{}x{}, {}", summary.shape.width, summary.shape.height, summary.element)},
        {"Belong together",
         fmt::format("{} neighbours{}",
                     connection.neighbours == kernel::Neighbours::four ? "4" : "8",
                     connection.sameness == kernel::Sameness::value ? " of equal value" : "")},
        {"Tiles", fmt::format("{}x{} on {} of {}", summary.grid.columns, summary.grid.rows,
                              report::counted(summary.ranks, "rank"), summary.transport)},
        {"Strips", summary.strips == 1
                       ? "one: the image fits in memory"
                       : fmt::format("{} of {} rows, of which the first is shown below",
                                     summary.strips, summary.grid.height)},
        {"Merged by", std::string(summary.plan.pattern->name)},
        {"Why", summary.plan.reason},
        {"Machine", fmt::format("{}, {}", host(), date())}};
    for (const std::string& warning : summary.warnings)
        page.facts.push_back({"Warning", warning});
    page.phases = {{"read", summary.read}, {"label", summary.label}, {"write", summary.write}};
    page.sections = merging_sections(summary.plan, summary.merging);
    return report::render(page);
}

std::string to_json(const LabelSummary& summary) {
    const kernel::Connection connection = summary.connection;
    nlohmann::ordered_json json;
    json["operation"] = "label";
    json["image"] = summary.image;
    json["output"] = summary.output;
    json["width"] = summary.shape.width;
    json["height"] = summary.shape.height;
    json["element"] = summary.element;
    json["neighbours"] = connection.neighbours == kernel::Neighbours::four ? 4 : 8;
    json["by_value"] = connection.sameness == kernel::Sameness::value;
    json["components"] = summary.components;
    json["strips"] = summary.strips;
    json["ranks"] = summary.ranks;
    json["transport"] = summary.transport;
    json["columns"] = summary.grid.columns;
    json["rows"] = summary.grid.rows;
    json["plan"] = nlohmann::ordered_json::parse(to_json(summary.plan));
    json["seconds"] = {{"read", summary.read}, {"label", summary.label}, {"write", summary.write}};
    json["warnings"] = summary.warnings;
    json["host"] = host();
    json["date"] = date();
    return sextant::to_text(json);
}

} // namespace sextant::operation
