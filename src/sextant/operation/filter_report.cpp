// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/filter_run.hpp"
#include "sextant/operation/provenance.hpp"
#include "sextant/report/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace sextant::operation {

namespace {

std::string mebibytes(Bytes bytes) {
    return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

} // namespace

std::string to_text(const FilterSummary& summary) {
    const FilterTask& task = summary.task;
    std::string text = fmt::format("{}: {} of {}x{} {} at sigma {}, on {} of {}\n", summary.output,
                                   fmt::join(task.filter.features, ", "), task.image.width,
                                   task.image.height, task.element.name, task.filter.sigma,
                                   report::counted(task.ranks, "rank"), summary.transport);
    text += fmt::format("{}x{} tiles ({})\n", summary.plan.columns, summary.plan.rows_of_tiles,
                        summary.plan.reason);
    text +=
        fmt::format("{} of {}, {}\n", report::counted(summary.windows, "window"),
                    report::counted(summary.plan.window, "row"), mebibytes(summary.plan.memory));
    text += fmt::format("read {:.1f} ms  filter {:.1f} ms  write {:.1f} ms\n", summary.read * 1e3,
                        summary.filter * 1e3, summary.write * 1e3);
    return text;
}

std::string to_json(const FilterSummary& summary) {
    nlohmann::ordered_json json;
    json["operation"] = "filter";
    json["image"] = summary.image;
    json["output"] = summary.output;
    json["width"] = summary.task.image.width;
    json["height"] = summary.task.image.height;
    json["element"] = summary.task.element.name;
    json["sigma"] = summary.task.filter.sigma;
    json["derivatives"] = summary.task.filter.features;
    json["ranks"] = summary.task.ranks;
    json["transport"] = summary.transport;
    json["windows"] = summary.windows;
    json["memory"] = summary.plan.memory;
    json["not_a_number"] = summary.not_a_number;
    json["plan"] = nlohmann::ordered_json::parse(to_json(summary.plan));
    json["seconds"] = {
        {"read", summary.read}, {"filter", summary.filter}, {"write", summary.write}};
    json["warnings"] = summary.warnings;
    json["host"] = host();
    json["date"] = date();
    return json.dump(2);
}

} // namespace sextant::operation
