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

/// "smooth at sigma 2, then x, y at sigma 1".
std::string text_of(const distributed::Filters& filters) {
    std::string text;
    for (const distributed::Filter& filter : filters)
        text += fmt::format("{}{} at sigma {}", text.empty() ? "" : ", then ",
                            fmt::join(filter.features, ", "), filter.sigma);
    return text;
}

std::string measured_text(const FilterSummary& summary) {
    std::string text =
        fmt::format("read {:.1f} ms  filter {:.1f} ms", summary.read * 1e3, summary.filter * 1e3);
    if (const auto& predicted = summary.plan.predicted)
        text += fmt::format(" (predicted {:.1f})", predicted->seconds * 1e3);
    return text + fmt::format("  write {:.1f} ms\n", summary.write * 1e3);
}

nlohmann::ordered_json to_json(const distributed::Filters& earlier) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const distributed::Filter& filter : earlier)
        all.push_back({{"sigma", filter.sigma}, {"derivatives", filter.features}});
    return all;
}

} // namespace

std::string to_text(const FilterSummary& summary) {
    const FilterTask& task = summary.task;
    std::string text =
        fmt::format("{}: {} of {}x{} {}, on {} of {}\n", summary.output, text_of(task.filters),
                    task.image.width, task.image.height, task.element.name,
                    report::counted(summary.ranks, "rank"), summary.transport);
    text += fmt::format("{} ({})\n", text_of(summary.plan.way), summary.plan.reason);
    text +=
        fmt::format("{} of {}, {}\n", report::counted(summary.windows, "window"),
                    report::counted(summary.plan.window, "row"), mebibytes(summary.plan.memory));
    return text + measured_text(summary);
}

std::string to_json(const FilterSummary& summary) {
    nlohmann::ordered_json json;
    json["operation"] = "filter";
    json["image"] = summary.image;
    json["output"] = summary.output;
    json["width"] = summary.task.image.width;
    json["height"] = summary.task.image.height;
    json["element"] = summary.task.element.name;
    const distributed::Filters& filters = summary.task.filters;
    json["before"] = to_json({filters.begin(), filters.end() - 1});
    json["sigma"] = filters.back().sigma;
    json["derivatives"] = filters.back().features;
    json["ranks"] = summary.ranks;
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
