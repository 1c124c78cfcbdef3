// SPDX-License-Identifier: BSD-3-Clause
// The page of `sextant label --report`.
#include "sextant/comm/agreement.hpp"
#include "sextant/command/label/label_command.hpp"
#include "sextant/command/pages/overview.hpp"
#include "sextant/command/pages/volume_slices.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/report/charts.hpp"
#include "sextant/report/page.hpp"
#include "sextant/report/picture_sections.hpp"
#include "sextant/report/text.hpp"
#include "sextant/tiles/list_exchange.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include <fmt/format.h>

namespace sextant::command {

namespace {

using kernel::Body;

/// Returns the voxel nearest to the centroid of the largest component; without components, the
/// centre of the volume.
std::array<Elements, 3> centre_of(const kernel::VolumeShape& shape, const ComponentSizes& sizes) {
    if (sizes.largest().empty())
        return {shape.depth / 2, shape.height / 2, shape.width / 2};
    std::array<Elements, 3> voxel{};
    const auto centroid = sizes.largest().front().body.centroid();
    std::ranges::transform(centroid, voxel.begin(), [](double at) { return std::llround(at); });
    return voxel;
}

std::string percent_of(Elements part, Elements all) {
    return fmt::format("{:.3g} %", 100 * static_cast<double>(part) / static_cast<double>(all));
}

report::Section pictures_of(const LabelSummary& summary) {
    const SliceGrid& grid = summary.slices->grey().grid();
    report::SlicedVolume sliced = sliced_volume(grid, summary.header);
    sliced.title = "Slices through the largest component";
    if (summary.result.components == 0)
        sliced.title = "Slices through the centre";
    SlicePngs grey = grey_pngs(summary.slices->grey()),
              labels = label_pngs(summary.slices->labels());
    const std::string& shown =
        summary.command.intensity ? summary.command.intensity.file : summary.command.source.image;
    sliced.volumes = {{shown, std::move(grey.xy), std::move(grey.xz), std::move(grey.zy)},
                      {"Labels", std::move(labels.xy), std::move(labels.xz), std::move(labels.zy)}};
    sliced.caption =
        fmt::format("Slices at {}, {} and {}, {}. Each component has its colour; with "
                    "many components, some colours are similar. Background is black.",
                    sliced.positions[0], sliced.positions[1], sliced.positions[2],
                    summary.result.components > 0 ? "the centre of the largest component"
                                                  : "the centre of the volume");
    sliced.caption += steps_shown(grid);
    return report::slices_section(sliced);
}

std::string key_of(ComponentNumber label) {
    const RgbaF32 colour = colour_of_label(label);
    const auto byte = [](float channel) { return static_cast<int>(std::lround(channel * 255)); };
    return fmt::format("<span class=\"key\" style=\"background:#{:02x}{:02x}{:02x}\"></span>",
                       byte(colour.r), byte(colour.g), byte(colour.b));
}

report::Section largest_section(const LabelSummary& summary) {
    const ComponentSizes& sizes = summary.sizes;
    if (sizes.count() == 0)
        return {};
    const bool means = bool{summary.command.intensity}, is_image = summary.command.is_image;
    const bool only_sizes = summary.command.label.measures_sizes(is_image);
    report::Table table{{{"Label", "keyed"},
                         is_image ? "Area" : "Voxels",
                         "Share",
                         is_image ? "Box (y, x)" : "Box (z, y, x)",
                         is_image ? "Centre (y, x)" : "Centre (z, y, x)"},
                        {},
                        false};
    if (!only_sizes) {
        table.columns.emplace_back(is_image ? "Perimeter" : "Faces");
        table.columns.push_back({"At border", "centred"});
    }
    if (means)
        table.columns.emplace_back("Mean");
    for (const auto& [label, body] : sizes.largest()) {
        const auto side = [&body = body](std::size_t axis) {
            return body.high[axis] - body.low[axis] + 1;
        };
        const std::array<double, 3> centre = body.centroid();
        table.rows.push_back(
            {key_of(label) + std::to_string(label), report::grouped(body.voxels),
             percent_of(body.voxels, sizes.voxels()),
             is_image ? fmt::format("{} × {}", side(1), side(2))
                      : fmt::format("{} × {} × {}", side(0), side(1), side(2)),
             is_image ? fmt::format("{:.1f}, {:.1f}", centre[1], centre[2])
                      : fmt::format("{:.1f}, {:.1f}, {:.1f}", centre[0], centre[1], centre[2])});
        if (!only_sizes) {
            table.rows.back().push_back(
                report::grouped(is_image ? body.perimeter() : body.faces()));
            table.rows.back().emplace_back(body.at_border ? "yes" : "");
        }
        if (means)
            table.rows.back().push_back(fmt::format("{:.4g}", body.intensity_mean()));
    }
    std::string html = to_html(table);
    const Elements others = sizes.count() - std::ssize(sizes.largest());
    if (others > 0)
        html +=
            fmt::format("<p>{} smaller components are not listed.</p>\n", report::grouped(others));
    return {others > 0 ? "The largest components" : "Components", html};
}

report::Section sizes_section(const ComponentSizes& sizes, const std::string& samples) {
    if (sizes.count() == 0)
        return {};
    report::ColumnChart chart;
    chart.title = "Components by size";
    chart.subtitle = fmt::format("each column begins at its number of {} and ends before the next; "
                                 "the vertical axis is logarithmic",
                                 samples);
    chart.text = [](double count) { return report::grouped(std::llround(count)); };
    chart.counts = true;
    report::ColumnChart::Kind components{"components", {}};
    const auto bits = [](Elements size) {
        return static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(size)));
    };
    const Elements most = sizes.largest().front().body.voxels;
    for (std::size_t bit = bits(sizes.least()); bit <= bits(most); ++bit) {
        components.values.push_back(static_cast<double>(sizes.by_bits()[bit]));
        chart.places.push_back(report::grouped(Elements{1} << (bit - 1)));
    }
    chart.kinds = {std::move(components)};
    chart.figures = {{report::grouped(sizes.count()), "components"},
                     {report::grouped(sizes.least()), samples + " at least"},
                     {report::grouped(sizes.voxels() / sizes.count()), samples + " (mean)"},
                     {report::grouped(most), samples + " at most"}};
    return {"Sizes", to_html(report::Figure{report::columns(chart), ""})};
}

std::string slabs_of(const LabelResult& result) {
    return fmt::format("{} on rank 0, of {}; {}", report::grouped(result.slabs),
                       report::counted(result.slab_planes, result.shape.of_rows ? "row" : "plane"),
                       result.reason);
}

/// Returns facts about the tiles, which are shown instead of sizes.
std::vector<report::Fact> facts_of_tiles(const LabelSummary& summary) {
    const LabelResult& result = summary.result;
    return {{"Tiles", fmt::format("{}x{} on {}", result.grid->columns, result.grid->rows,
                                  ranks_text(summary.ranks, summary.transport))},
            {"Strips", result.slabs == 1 ? "one, because the image fits in memory"
                                         : fmt::format("{} of {} rows; the first is shown below",
                                                       result.slabs, result.slab_planes)},
            {"Merged by", result.plan.text()},
            {"Why", result.plan.reason}};
}

std::vector<report::Fact> facts_of_slabs(const LabelSummary& summary) {
    const LabelOptions& label = summary.command.label;
    const LabelResult& result = summary.result;
    const bool is_image = summary.command.is_image;
    std::vector<report::Fact> facts = {{"Components", report::grouped(result.components)}};
    if (label.fill_holes)
        facts.push_back({"Holes", fmt::format("{} filled", report::grouped(result.holes))});
    if (label.chooses_by_size() || label.keep_largest > 0)
        facts.push_back({"Removed", report::counted(result.removed, "component")});
    facts.push_back(
        {"Labelled", fmt::format("{} {}, {} of the {}", report::grouped(summary.sizes.voxels()),
                                 is_image ? "pixels" : "voxels",
                                 percent_of(summary.sizes.voxels(), result.shape.elements()),
                                 is_image ? "image" : "volume")});
    facts.push_back({"Ranks", fmt::format("{} over {}", summary.ranks, summary.transport)});
    facts.push_back({is_image ? "Strips" : "Slabs", slabs_of(result)});
    facts.push_back({"Memory", fmt::format("at most {:g} MiB for samples and labels (--memory)",
                                           static_cast<double>(label.memory) / (1 << 20))});
    if (result.slabs > 1)
        facts.push_back(
            {fmt::format("Predicted from the first {}", is_image ? "strip" : "slab"),
             fmt::format("read {:.3g} s, label {:.3g} s; measured {:.3g} s and {:.3g} s",
                         result.predicted_read, result.predicted_label, result.read,
                         result.label)});
    return facts;
}

std::vector<report::Fact> facts_of(const LabelSummary& summary) {
    const LabelOptions& label = summary.command.label;
    const LabelResult& result = summary.result;
    const bool is_image = summary.command.is_image;
    std::vector<report::Fact> facts;
    if (is_image)
        facts = {{"Image", fmt::format("{}x{}, {}", result.shape.width, result.shape.depth,
                                       kind_of_image(summary.header))}};
    else
        facts = {{"Volume", fmt::format("{}: {}, {}", summary.command.source.image,
                                        size_text(result.shape), name(summary.header.sample))},
                 {"Size of a voxel (z, y, x)", voxel_of(summary.header).words}};
    facts.push_back({"Connected", fmt::format("{} neighbours{}", neighbours_of(label, is_image),
                                              label.by_value ? " of equal value" : "")});
    for (report::Fact& fact : result.grid ? facts_of_tiles(summary) : facts_of_slabs(summary))
        facts.push_back(std::move(fact));
    add_provenance(facts, summary.remarks);
    return facts;
}

} // namespace

void ComponentSizes::add(ComponentNumber first, std::span<const Body> bodies) {
    const auto before = [](const Listed& a, const Listed& b) {
        return a.body.voxels != b.body.voxels ? a.body.voxels > b.body.voxels : a.label < b.label;
    };
    for (const Body& body : bodies) {
        least_ = count_ == 0 ? body.voxels : std::min(least_, body.voxels);
        ++count_;
        voxels_ += body.voxels;
        ++by_bits_[static_cast<std::size_t>(
            std::bit_width(static_cast<std::uint64_t>(body.voxels)))];
        const Listed listed{first++, body};
        if (largest_.size() == most_listed && !before(listed, largest_.back()))
            continue;
        largest_.insert(std::ranges::upper_bound(largest_, listed, before), listed);
        if (largest_.size() > most_listed)
            largest_.pop_back();
    }
}

LabelledSlices::LabelledSlices(const Communicator& communicator, const LabelResult& found,
                               const ComponentSizes& sizes, FrameSource& shown) {
    timed(seconds_, [&] {
        std::vector<std::array<Elements, 3>> centre; // set on rank 0, which has the sizes
        agree(communicator, [&] {
            if (communicator.rank() == 0)
                centre = {centre_of(found.shape, sizes)};
        });
        const SliceGrid grid(found.shape, all_gather_by_rank(communicator, centre).values.front());
        grey_.emplace(slices_of(communicator, shown, grid));
        labels_.emplace(grid);
    });
}

std::vector<report::Phase> phases_of_labels(const LabelResult& result) {
    std::vector<report::Phase> phases = {
        {"read", result.read}, {"label", result.label}, {"write", result.write}};
    if (result.slabs > 1 && !result.grid) {
        phases[0].predicted = result.predicted_read;
        phases[1].predicted = result.predicted_label;
    }
    return phases;
}

std::string kind_of_image(const FrameHeader& header) {
    return fmt::format("{} {}", header.channels < 3 ? "gray" : "colour", name(header.sample));
}

std::string size_text(const kernel::VolumeShape& shape) {
    return shape.of_rows ? fmt::format("{}x{} pixels", shape.width, shape.depth)
                         : fmt::format("{}x{}x{} voxels", shape.depth, shape.height, shape.width);
}

std::string to_page(const LabelSummary& summary) {
    const LabelResult& result = summary.result;
    const LabelCommand& command = summary.command;
    const std::string components = report::counted(result.components, "component");
    report::Page page;
    page.title = "Sextant: " + command.output;
    page.facts = facts_of(summary);
    page.phases = phases_of_labels(result);
    if (command.is_image) {
        page.subtitle = fmt::format("{}: {}", command.source.image, components);
        page.picture = {
            summary.overview->png(), "Components in colours over the image",
            components +
                ", each in its own colour; with many components, some colours are similar."};
        if (result.grid)
            page.sections = merging_sections(result.plan, summary.merging);
        else
            page.shown = {largest_section(summary), sizes_section(summary.sizes, "pixels")};
        return report::render(page);
    }
    page.subtitle =
        fmt::format("{}: {} in {}", command.source.image, components, size_text(result.shape));
    page.shown = {pictures_of(summary), largest_section(summary),
                  sizes_section(summary.sizes, "voxels")};
    page.phases.push_back({"slices for this page", summary.slices->seconds()});
    page.next_steps = {{"All components, with axes and extremes",
                        fmt::format("sextant label {} -o {} --table components.csv",
                                    command.source.image, command.output)},
                       {"All options", "sextant label --help"}};
    return report::render(page);
}

} // namespace sextant::command
