// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/provenance.hpp"
#include "sextant/command/contours.hpp"
#include "sextant/core/json.hpp"
#include "sextant/report/page.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::command {

namespace {

constexpr std::size_t most_outlines = 24;
constexpr Elements most_points = 2'000; // of a drawn line: 10 kB

/// Reads a line's points, which come next, and keeps every n-th and the last.
report::Outline read_outline(LineReader& lines, const ContourLine& line) {
    const Elements every = (line.points + most_points - 1) / most_points;
    report::Outline outline{{}, line.points, line.closed};
    for (Elements k = 0; k < line.points; ++k) {
        const Elements pixel = lines.next_pixel();
        if (k % every == 0 || k == line.points - 1)
            outline.points.push_back({pixel % lines.image().width, pixel / lines.image().width});
    }
    return outline;
}

/// Inserts after contours of the same length, and drops the shortest if there are too many.
void insert(std::vector<report::Outline>& longest, report::Outline&& outline) {
    const auto place = std::upper_bound(
        longest.begin(), longest.end(), outline.length,
        [](Elements length, const report::Outline& each) { return length > each.length; });
    longest.insert(place, std::move(outline));
    if (longest.size() > most_outlines)
        longest.pop_back();
}

std::string merged_text(const std::optional<distributed::MergingPlan>& plan) {
    return plan ? fmt::format(", merged by {}", plan->pattern->name) : "";
}

std::string edges_text(const ContoursSummary& summary) {
    if (!summary.thresholds)
        return "a map of directions";
    return fmt::format("at sigma {}, from gradients of {:.6g} on, followed to {:.6g}{}",
                       summary.sigma, summary.thresholds->high, summary.thresholds->low,
                       merged_text(summary.hysteresis));
}

std::string found_text(const ContoursSummary& summary) {
    return fmt::format("{} of {}, {} closed", report::counted(summary.contours, "contour"),
                       report::counted(summary.points, "point"), summary.closed);
}

std::vector<report::Fact> facts_of(const ContoursSummary& summary) {
    std::vector<report::Fact> facts = {
        {"Image", fmt::format("{}x{} pixels", summary.grid.width, summary.grid.height)},
        {"Found", found_text(summary)},
        {"Edges", edges_text(summary)},
        {"Cut", fmt::format("{} at {}", report::grouped(summary.cut),
                            report::counted(summary.junctions, "junction"))},
        {"Tiles", fmt::format("{}x{} on {} of {}", summary.grid.columns, summary.grid.rows,
                              report::counted(summary.ranks, "rank"), summary.transport)},
        {"Machine", fmt::format("{}, {}", host(), date())}};
    if (summary.plan) {
        facts.push_back({"Merged by", std::string(summary.plan->pattern->name)});
        facts.push_back({"Why", summary.plan->reason});
    } else {
        facts.push_back({"Strips", fmt::format("{}, merged in time", summary.strips)});
    }
    for (const std::string& warning : summary.warnings)
        facts.push_back({"Warning", warning});
    return facts;
}

} // namespace

report::OutlinedPicture outlined(LineReader& lines) {
    report::OutlinedPicture picture{.title = "The longest contours",
                                    .width = lines.image().width,
                                    .height = lines.image().height};
    Elements count = 0;
    for (ContourLine line; lines.next(line); ++count)
        insert(picture.outlines, read_outline(lines, line));
    picture.caption = fmt::format("The longest {} of {}.", picture.outlines.size(),
                                  report::counted(count, "contour"));
    if (!picture.outlines.empty() && picture.outlines.front().length > most_points)
        picture.caption += fmt::format(" Of long ones up to {} points are drawn.", most_points);
    return picture;
}

std::string to_page(const ContoursSummary& summary) {
    report::Page page;
    page.title = "Sextant: " + summary.output;
    page.subtitle = fmt::format("{}: {}", summary.image, found_text(summary));
    page.shown = {outlines_section(summary.shown)};
    page.facts = facts_of(summary);
    page.phases = {{"read", summary.read},
                   {"edges", summary.edges},
                   {"rank", summary.rank},
                   {"write", summary.write}};
    if (summary.plan)
        page.sections = merging_sections(*summary.plan, summary.merging);
    return report::render(page);
}

std::string to_text(const ContoursSummary& summary) {
    std::string text =
        fmt::format("{}: {} of {}, {} closed; {}, {} cut there\n", summary.output,
                    report::counted(summary.contours, "contour"),
                    report::counted(summary.points, "point"), summary.closed,
                    report::counted(summary.junctions, "junction"), report::grouped(summary.cut));
    if (summary.thresholds)
        text += fmt::format("edges {}\n", edges_text(summary));
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
    return sextant::to_text(json);
}

} // namespace sextant::command
