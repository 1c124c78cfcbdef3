// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/contours_run.hpp"
#include "sextant/operation/provenance.hpp"
#include "sextant/report/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::operation {

std::string to_text(const ContoursSummary& summary) {
    std::string text = fmt::format("{}: {} of {}, {} closed; {}, {} cut there\n", summary.output,
                                   report::counted(summary.contours, "contour"),
                                   report::counted(summary.points, "point"), summary.closed,
                                   report::counted(summary.junctions, "junction"), summary.cut);
    if (summary.thresholds)
        text += fmt::format(
            "edges at sigma {}, from gradients of {:.6g} on, followed to {:.6g}{}\n", summary.sigma,
            summary.thresholds->high, summary.thresholds->low,
            summary.hysteresis ? fmt::format(", merged by {}", summary.hysteresis->pattern->name)
                               : "");
    text += fmt::format(
        "{}x{} pixels in {}x{} tiles on {} of {}, {}\n", summary.grid.width, summary.grid.height,
        summary.grid.columns, summary.grid.rows, report::counted(summary.ranks, "rank"),
        summary.transport,
        summary.plan
            ? fmt::format("merged by {} ({})", summary.plan->pattern->name, summary.plan->reason)
            : fmt::format("in each of {} strips, merged in time", summary.strips));
    return text + fmt::format("read {:.1f} ms  edges {:.1f} ms  rank {:.1f} ms  write {:.1f} ms\n",
                              summary.read * 1e3, summary.edges * 1e3, summary.rank * 1e3,
                              summary.write * 1e3);
}

std::string to_json(const ContoursSummary& summary) {
    nlohmann::ordered_json json;
    json["operation"] = "contours";
    json["image"] = summary.image;
    json["output"] = summary.output;
    json["width"] = summary.grid.width;
    json["height"] = summary.grid.height;
    json["sigma"] = nullptr;
    json["thresholds"] = nullptr;
    if (summary.thresholds) {
        json["sigma"] = summary.sigma;
        json["thresholds"] = {{"low", summary.thresholds->low}, {"high", summary.thresholds->high}};
    }
    json["min_length"] = summary.min_length;
    json["contours"] = summary.contours;
    json["points"] = summary.points;
    json["closed"] = summary.closed;
    json["junctions"] = summary.junctions;
    json["cut"] = summary.cut;
    json["strips"] = summary.strips;
    json["ranks"] = summary.ranks;
    json["transport"] = summary.transport;
    json["columns"] = summary.grid.columns;
    json["rows"] = summary.grid.rows;
    json["plan"] = nullptr;
    if (summary.plan)
        json["plan"] = nlohmann::ordered_json::parse(to_json(*summary.plan));
    json["hysteresis"] = nullptr;
    if (summary.hysteresis)
        json["hysteresis"] = nlohmann::ordered_json::parse(to_json(*summary.hysteresis));
    json["seconds"] = {{"read", summary.read},
                       {"edges", summary.edges},
                       {"rank", summary.rank},
                       {"write", summary.write}};
    json["warnings"] = summary.warnings;
    json["host"] = host();
    json["date"] = date();
    return json.dump(2);
}

} // namespace sextant::operation
