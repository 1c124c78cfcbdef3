// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/label_run.hpp"
#include "sextant/operation/provenance.hpp"
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
    return json.dump(2);
}

} // namespace sextant::operation
