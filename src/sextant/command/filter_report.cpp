// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/provenance.hpp"
#include "sextant/command/filter.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/plan_report.hpp"
#include "sextant/report/page.hpp"
#include "sextant/report/svg.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::command {

namespace {

std::string mebibytes(Bytes bytes) {
    return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

std::string measured_text(const FilterSummary& summary) {
    const distributed::FilterPlan::Predicted predicted =
        summary.result.plan.predicted.value_or(distributed::FilterPlan::Predicted{});
    const auto phase = [](const char* name, Seconds took, std::optional<Seconds> expected) {
        const std::string text = fmt::format("{} {:.1f} ms", name, took * 1e3);
        return expected ? text + fmt::format(" (predicted {:.1f})", *expected * 1e3) : text;
    };
    return fmt::format(
        "{}  {}  {}\n", phase("read", summary.result.read, predicted.read),
        phase("filter", summary.result.filter,
              summary.result.plan.predicted ? std::optional(predicted.seconds) : std::nullopt),
        phase("write", summary.result.write, predicted.write));
}

/// One number, or one each for z, y and x if they differ.
Json json_of(const kernel::Scales& sigma) {
    if (sigma == kernel::Scales(sigma.x))
        return sigma.x;
    return Json::array({sigma.z, sigma.y, sigma.x});
}

Json json_of(const distributed::Filter& filter) {
    return {{"sigma", json_of(filter.sigma)}, {"derivatives", filter.features}};
}

/// The shape of the image or volume: "640x480", "640x480x100".
std::string shape_of(const FilterResult& result) {
    const std::string text = fmt::format("{}x{}", result.image.width, result.image.height);
    return result.depth > 0 ? fmt::format("{}x{}", text, result.depth) : text;
}

/// Draws the image divided into tiles, each labelled with its rank.
std::string tiles_picture(const FilterSummary& summary, const filtering::Retiling& configuration) {
    constexpr double left = 24, width = 1112, most_width = 700, most_height = 320;
    const auto columns = static_cast<double>(summary.result.image.width);
    const auto rows = static_cast<double>(summary.result.image.height);
    const double scale = std::min(most_width / columns, most_height / rows);
    const double wide = columns * scale / configuration.columns;
    const double high = rows * scale / configuration.rows;
    report::Svg svg("Tiles",
                    fmt::format("{}x{} of {}x{} pixels", configuration.columns, configuration.rows,
                                summary.result.image.width, summary.result.image.height),
                    width);
    svg.colour(".tile", "fill", {"#eef3fa", "#1d2733"});
    svg.colour(".tile", "stroke", report::colour_of_hue(255));
    svg.skip(8);
    for (int rank = 0; rank < configuration.ranks(); ++rank) {
        const double x = left + rank % configuration.columns * wide;
        const double y = svg.bottom() + rank / configuration.columns * high;
        svg.rectangle(x, y, wide, high, "tile");
        const std::string name = std::to_string(rank);
        if (wide > report::width_of_text(name) + 4 && high > 12)
            svg.text(x + wide / 2, y + high / 2 + 4, "middle quiet", name);
    }
    svg.skip(rows * scale + 8);
    return svg.finish();
}

report::Picture picture_of(const FilterSummary& summary) {
    const distributed::Filter& last = summary.filters.back();
    const std::string what =
        fmt::format("{} at sigma {}", last.features.front(), sextant::text_of(last.sigma));
    const std::string rest = last.features.size() > 1
                                 ? fmt::format(", the first of {} results", last.features.size())
                                 : "";
    return {
        summary.picture, what,
        fmt::format("{}{}. Black is the smallest value, white the largest, apart from outliers.",
                    what, rest)};
}

/// Predictions are for the whole image, so the measured time is the sum of all windows.
report::Section weighed_section(const FilterResult& result) {
    const distributed::FilterPlan& plan = result.plan;
    const bool reading = plan.predicted && plan.predicted->read;
    return alternatives_section(
        alternatives_of(plan,
                        fmt::format("{}: predicted by {} on {}; measured over {}",
                                    reading ? "reading and filtering" : "filtering", plan.model,
                                    plan.machine, report::counted(result.windows, "window")),
                        result.filter + (reading ? result.read : Seconds{0})));
}

} // namespace

std::string to_text(const FilterSummary& summary) {
    std::string text =
        fmt::format("{}: {} of {} {}, on {} of {}\n", fmt::join(summary.outputs, ", "),
                    text_of(summary.filters), shape_of(summary.result), summary.result.element.name,
                    report::counted(summary.ranks, "rank"), summary.transport);
    text += fmt::format("{} ({})\n", summary.result.plan.text(), summary.result.plan.reason);
    if (!summary.result.sharing.reason.empty())
        text += within_nodes(summary.result.sharing) + "\n";
    text += fmt::format(
        "{} of {}, {}\n", report::counted(summary.result.windows, "window"),
        report::counted(summary.result.plan.window, summary.result.depth > 0 ? "plane" : "row"),
        mebibytes(summary.result.plan.memory));
    return text + measured_text(summary);
}

std::string to_json(const FilterSummary& summary) {
    const distributed::Filter& last = summary.filters.back();
    Json before = Json::array();
    for (std::size_t i = 0; i + 1 < summary.filters.size(); ++i)
        before.add(json_of(summary.filters[i]));
    Record record = {{"operation", "filter"}, {"image", summary.image}, {"output", summary.output}};
    if (summary.result.depth > 0)
        record.include({{"outputs", summary.outputs, "one file per derivative"}});
    record.include(record_of(summary.result))
        .include({{"before", before},
                  {"kernel", text_of(last.kernel)},
                  {"sigma", json_of(last.sigma)},
                  {"derivatives", last.features},
                  {"ranks", summary.ranks},
                  {"transport", summary.transport}},
                 "element")
        .include(provenance_of_run(summary.warnings));
    return sextant::to_json(record);
}

std::string to_page(const FilterSummary& summary) {
    const distributed::FilterPlan& plan = summary.result.plan;
    report::Page page;
    page.title = "Sextant: " + summary.output;
    page.subtitle = fmt::format("{}: {}", summary.image, text_of(summary.filters));
    page.picture = picture_of(summary);
    page.facts = {
        {"Image", fmt::format("{}x{}, {}", summary.result.image.width, summary.result.image.height,
                              summary.result.element.name)},
        {"Filters", text_of(summary.filters)},
        {"Ranks", fmt::format("{} of {} used; transport: {}", plan.configuration.ranks(),
                              summary.ranks, summary.transport)},
        {"Configuration", plan.text()},
        {"Why", plan.reason},
        {"Windows", fmt::format("{} of {}, {} for all ranks together",
                                report::counted(summary.result.windows, "window"),
                                report::counted(plan.window, "row"), mebibytes(plan.memory))},
        {"Machine", fmt::format("{}, {}", host(), date())}};
    if (!summary.result.sharing.reason.empty())
        page.facts.push_back({"Exchange", within_nodes(summary.result.sharing)});
    for (const std::string& warning : summary.warnings)
        page.facts.push_back({"Warning", warning});
    page.phases = {{"read", summary.result.read},
                   {"filter", summary.result.filter},
                   {"write", summary.result.write}};
    page.sections = {weighed_section(summary.result)};
    for (const filtering::Retiling& tiles : plan.configuration.all_tiles())
        page.figures.push_back(
            {tiles_picture(summary, tiles),
             tiles.filter == 0
                 ? "Each tile is labelled with the rank that filters it."
                 : fmt::format("The tiles of filter {} and of later filters.", tiles.filter + 1)});
    return report::render(page);
}

} // namespace sextant::command
