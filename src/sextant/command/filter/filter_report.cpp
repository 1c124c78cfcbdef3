// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/filter/filter.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/pages/plan_report.hpp"
#include "sextant/command/pages/volume_slices.hpp"
#include "sextant/report/page.hpp"
#include "sextant/report/svg.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::command {

namespace {

std::string windows_text(const FilterResult& result) {
    return fmt::format("{} of {}, {:.1f} MiB", report::counted(result.windows, "window"),
                       report::counted(result.plan.window, result.depth > 0 ? "plane" : "row"),
                       static_cast<double>(result.plan.memory) / (1 << 20));
}

/// Returns "2 threads", "4 ranks of threads", "4 ranks of Open MPI 4.1, 2 threads each".
std::string workers_text(const FilterSummary& summary) {
    const std::string threads = report::counted(summary.threads, "thread");
    if (summary.ranks == 1 && summary.transport == "threads")
        return threads;
    return ranks_text(summary.ranks, summary.transport) +
           (summary.threads == 1 ? "" : fmt::format(", {} each", threads));
}

std::vector<report::Phase> phases_of(const FilterSummary& summary) {
    const FilterResult& result = summary.result;
    std::vector<report::Phase> phases = {
        {"read", result.read}, {"filter", result.filter}, {"write", result.write}};
    if (const auto& predicted = result.plan.predicted) {
        phases[0].predicted = predicted->read;
        phases[1].predicted = predicted->seconds;
        phases[2].predicted = predicted->write;
    }
    return phases;
}

/// Returns one number, or one each for (z,) y and x if they differ.
Json json_of(const kernel::Scales& sigma) {
    if (sigma == kernel::Scales(sigma.x))
        return sigma.x;
    if (sigma.z < 0)
        return Json::array({sigma.y, sigma.x});
    return Json::array({sigma.z, sigma.y, sigma.x});
}

Json json_of(const distributed::Filter& filter) {
    return {{"sigma", json_of(filter.sigma)}, {"derivatives", filter.features}};
}

/// Returns the scale in a unit and in voxels: "sigma 2 µm is 1, 4, 4 voxels along z, y, x".
std::string units_text(const FilterSummary& summary) {
    const kernel::Scales& sigma = summary.filters.back().sigma;
    std::string pixels =
        fmt::format("{:.6g}, {:.6g}, {:.6g} voxels along z, y, x", sigma.z, sigma.y, sigma.x);
    if (summary.result.depth == 0)
        pixels = fmt::format("{:.6g}, {:.6g} pixels along y, x", sigma.y, sigma.x);
    return fmt::format("sigma {} {} is {}; derivatives are per {}", summary.sigma, summary.unit,
                       pixels, summary.unit);
}

/// Returns a table of the predicted and measured times of each phase.
std::string predicted_text(const FilterSummary& summary) {
    const distributed::FilterPlan& plan = summary.result.plan;
    if (!plan.predicted)
        return "no prediction: the machine profile has no filter costs";
    std::string text;
    for (const report::Phase& phase : phases_of(summary)) {
        if (phase.predicted)
            text += fmt::format("{} {}, measured {}; ", phase.name,
                                report::to_text(*phase.predicted), report::to_text(phase.seconds));
    }
    return text + fmt::format("by {} on {}", plan.model, plan.machine);
}

/// Returns the shape of the image or volume: "640x480", "640x480x100".
std::string shape_of(const FilterResult& result) {
    const std::string text = fmt::format("{}x{}", result.image.width, result.image.height);
    return result.depth > 0 ? fmt::format("{}x{}", text, result.depth) : text;
}

/// Draws the image divided into tiles, each labelled with its rank. The layers of a volume are
/// drawn side by side.
std::string tiles_picture(const FilterSummary& summary, const Tiles& tiles) {
    constexpr double left = 24, width = 1112, most_width = 700, most_height = 320, gap = 8;
    const auto columns = static_cast<double>(summary.result.image.width);
    const auto rows = static_cast<double>(summary.result.image.height);
    const double scale = std::min(
        (most_width - gap * (tiles.layers - 1)) / (columns * tiles.layers), most_height / rows);
    const double wide = columns * scale / tiles.columns, high = rows * scale / tiles.rows;
    const bool is_volume = summary.result.depth > 0;
    const std::string layers = is_volume ? fmt::format("x{}", tiles.layers) : "";
    report::Svg svg(is_volume ? "Boxes" : "Tiles",
                    fmt::format("{}x{}{} of {} {}", tiles.columns, tiles.rows, layers,
                                shape_of(summary.result), is_volume ? "voxels" : "pixels"),
                    width);
    svg.colour(".tile", "fill", {"#eef3fa", "#1d2733"});
    svg.colour(".tile", "stroke", report::colour_of_hue(255));
    svg.skip(8);
    const int in_a_layer = tiles.columns * tiles.rows;
    for (int rank = 0; rank < tiles.count(); ++rank) {
        const int layer = rank / in_a_layer, tile = rank % in_a_layer;
        const double x = left + layer * (columns * scale + gap) + tile % tiles.columns * wide;
        const double y = svg.bottom() + tile / tiles.columns * high;
        svg.rectangle(x, y, wide, high, "tile");
        const std::string name = std::to_string(rank);
        if (wide > report::width_of_text(name) + 4 && high > 12)
            svg.text(x + wide / 2, y + high / 2 + 4, "middle quiet", name);
    }
    svg.skip(rows * scale + 8);
    return svg.finish();
}

std::string tiles_caption(const FilterSummary& summary, const filtering::Retiling& change) {
    const bool is_volume = summary.result.depth > 0;
    const std::string layers =
        change.tiles.layers > 1
            ? " Layers are drawn side by side, with the first planes on the left."
            : "";
    if (change.filter > 0)
        return fmt::format("The {} of filter {} and of later filters.{}",
                           is_volume ? "boxes" : "tiles", change.filter + 1, layers);
    return fmt::format("Each {} is labelled with the rank that filters it.{}",
                       is_volume ? "box" : "tile", layers);
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

/// Shows slices of the volume and of all its derivatives.
report::Section slices_of_volume(const FilterSummary& summary) {
    const FilteredSlices& slices = *summary.slices;
    report::SlicedVolume sliced = sliced_volume(slices.grid, summary.header);
    sliced.title = "Slices through the centre";
    const auto add = [&](const std::string& name, const VolumeSlices<float>& samples) {
        SlicePngs grey = grey_pngs(samples);
        sliced.volumes.push_back(
            {name, std::move(grey.xy), std::move(grey.xz), std::move(grey.zy)});
    };
    add(summary.image, *slices.volume);
    for (std::size_t k = 0; k < slices.derivatives.size(); ++k)
        add(summary.derivatives[k], slices.derivatives[k]);
    sliced.caption = fmt::format("Slices at {}, {} and {}. In each volume, black is the smallest "
                                 "value, white the largest, apart from outliers.{}",
                                 sliced.positions[0], sliced.positions[1], sliced.positions[2],
                                 steps_shown(slices.grid));
    return report::slices_section(sliced);
}

/// Compares the predicted times of the alternatives with the measured time. Predictions are for the
/// whole image, so the measured time is the sum of all windows.
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
    std::string text = fmt::format("{}: {} of {} {}, on {}\n", fmt::join(summary.outputs, ", "),
                                   text_of(summary.filters), shape_of(summary.result),
                                   summary.result.element.name, workers_text(summary));
    if (!summary.unit.empty())
        text += units_text(summary) + "\n";
    text += fmt::format("{} ({})\n", summary.result.plan.text(), summary.result.plan.reason);
    if (!summary.result.sharing.reason.empty())
        text += within_nodes(summary.result.sharing) + "\n";
    text += windows_text(summary.result) + "\n";
    return text + phases_text(phases_of(summary));
}

std::string to_json(const FilterSummary& summary) {
    const distributed::Filter& last = summary.filters.back();
    Json before = Json::array();
    for (std::size_t i = 0; i + 1 < summary.filters.size(); ++i)
        before.add(json_of(summary.filters[i]));
    Record record = results_of("filter");
    record.include({{"image", summary.image}, {"output", summary.output}});
    if (summary.result.depth > 0)
        record.include({{"outputs", summary.outputs}});
    record.include(record_of(summary.result))
        .include({{"before", before},
                  {"kernel", text_of(last.kernel)},
                  {"sigma", json_of(last.sigma)},
                  {"derivatives", summary.derivatives},
                  {"ranks", summary.ranks},
                  {"threads", summary.threads},
                  {"transport", summary.transport}},
                 "element")
        .include(provenance_of_run(summary.warnings));
    if (!summary.unit.empty())
        record.include({{"unit", summary.unit},
                        {"pixel", Json::array({last.pixel.z, last.pixel.y, last.pixel.x})}},
                       "sigma");
    return sextant::to_json(record);
}

std::string to_page(const FilterSummary& summary) {
    const distributed::FilterPlan& plan = summary.result.plan;
    const bool is_volume = summary.result.depth > 0;
    report::Page page;
    page.title = "Sextant: " + summary.output;
    page.subtitle = fmt::format("{}: {}", summary.image, text_of(summary.filters));
    if (is_volume)
        page.shown = {slices_of_volume(summary)};
    else
        page.picture = picture_of(summary);
    page.facts = {{is_volume ? "Volume" : "Image",
                   fmt::format("{}, {}", shape_of(summary.result), summary.result.element.name)},
                  {"Filters", text_of(summary.filters)}};
    if (is_volume)
        page.facts.push_back({"Size of a voxel (z, y, x)", voxel_of(summary.header).words});
    if (!summary.unit.empty())
        page.facts.push_back({"Units", units_text(summary)});
    const std::vector<report::Fact> run = {
        {"Ranks",
         fmt::format("{} of {} used; {} per rank; transport: {}", plan.configuration.ranks(),
                     summary.ranks, report::counted(summary.threads, "thread"), summary.transport)},
        {"Configuration", plan.text()},
        {"Why", plan.reason},
        {"Windows", windows_text(summary.result) + " for all ranks together"},
        {"Predicted", predicted_text(summary)}};
    page.facts.insert(page.facts.end(), run.begin(), run.end());
    if (!summary.result.sharing.reason.empty())
        page.facts.push_back({"Exchange", within_nodes(summary.result.sharing)});
    add_provenance(page.facts, summary.warnings);
    page.phases = phases_of(summary);
    if (summary.slices)
        page.phases.push_back({"slices for this page", summary.slices->reading});
    page.sections = {weighed_section(summary.result)};
    for (const filtering::Retiling& change : plan.configuration.all_tiles())
        page.figures.push_back(
            {tiles_picture(summary, change.tiles), tiles_caption(summary, change)});
    return report::render(page);
}

} // namespace sextant::command
