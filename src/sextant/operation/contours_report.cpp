// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/contours_run.hpp"
#include "sextant/operation/provenance.hpp"
#include "sextant/report/page.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::operation {

namespace {

constexpr std::size_t most_outlines = 24;
constexpr Elements most_points = 40'000; // of all that are drawn: some 200 kB

std::vector<ContourLine> longest(const std::vector<ContourLine>& lines) {
    std::vector<ContourLine> some = lines;
    std::stable_sort(some.begin(), some.end(), [](const ContourLine& a, const ContourLine& b) {
        return a.points > b.points;
    });
    some.resize(std::min(some.size(), most_outlines));
    return some;
}

/// Every so manyth point, and the last.
report::Outline outline_of(const ContourLines& lines, const ContourLine& line, Elements every) {
    report::Outline outline{{}, line.points, line.closed};
    const auto add = [&](Elements k) {
        const Elements pixel = lines.pixels[static_cast<std::size_t>(line.first + k)];
        outline.points.push_back({pixel % lines.image.width, pixel / lines.image.width});
    };
    for (Elements k = 0; k < line.points; k += every)
        add(k);
    if ((line.points - 1) % every != 0)
        add(line.points - 1);
    return outline;
}

std::string edges_text(const ContoursSummary& summary) {
    if (!summary.thresholds)
        return "a map of directions";
    return fmt::format("at sigma {}, from gradients of {:.6g} on, followed to {:.6g}; merged by {}",
                       summary.sigma, summary.thresholds->high, summary.thresholds->low,
                       summary.hysteresis->pattern->name);
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
        {"Cut",
         fmt::format("{} at {}", summary.cut, report::counted(summary.junctions, "junction"))},
        {"Tiles", fmt::format("{}x{} on {} of {}", summary.grid.columns, summary.grid.rows,
                              report::counted(summary.ranks, "rank"), summary.transport)},
        {"Merged by", std::string(summary.plan.pattern->name)},
        {"Why", summary.plan.reason},
        {"Machine", fmt::format("{}, {}", host(), date())}};
    for (const std::string& warning : summary.warnings)
        facts.push_back({"Warning", warning});
    return facts;
}

} // namespace

report::OutlinedPicture outlined(const ContourLines& lines) {
    report::OutlinedPicture picture{
        .title = "The longest contours", .width = lines.image.width, .height = lines.image.height};
    const std::vector<ContourLine> some = longest(lines.lines);
    Elements points = 0;
    for (const ContourLine& line : some)
        points += line.points;
    const Elements every = std::max<Elements>(1, (points + most_points - 1) / most_points);
    for (const ContourLine& line : some)
        picture.outlines.push_back(outline_of(lines, line, every));
    picture.caption = fmt::format("The longest {} of {}.", some.size(),
                                  report::counted(std::ssize(lines.lines), "contour"));
    if (every > 1)
        picture.caption += fmt::format(" Drawn: one of {} points.", every);
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
    page.sections = merging_sections(summary.plan, summary.merging);
    return report::render(page);
}

std::string to_text(const ContoursSummary& summary) {
    std::string text = fmt::format("{}: {} of {}, {} closed; {}, {} cut there\n", summary.output,
                                   report::counted(summary.contours, "contour"),
                                   report::counted(summary.points, "point"), summary.closed,
                                   report::counted(summary.junctions, "junction"), summary.cut);
    if (summary.thresholds)
        text += fmt::format("edges at sigma {}, from gradients of {:.6g} on, followed to {:.6g}, "
                            "merged by {}\n",
                            summary.sigma, summary.thresholds->high, summary.thresholds->low,
                            summary.hysteresis->pattern->name);
    text += fmt::format("{}x{} pixels in {}x{} tiles on {} of {}, merged by {} ({})\n",
                        summary.grid.width, summary.grid.height, summary.grid.columns,
                        summary.grid.rows, report::counted(summary.ranks, "rank"),
                        summary.transport, summary.plan.pattern->name, summary.plan.reason);
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
    json["ranks"] = summary.ranks;
    json["transport"] = summary.transport;
    json["columns"] = summary.grid.columns;
    json["rows"] = summary.grid.rows;
    json["plan"] = nlohmann::ordered_json::parse(to_json(summary.plan));
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
