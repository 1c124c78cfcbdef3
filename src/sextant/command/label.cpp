// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/label.hpp"

#include "sextant/calibrate/planner_here.hpp"
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/provenance.hpp"
#include "sextant/command/commands.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/contour/tile_lists.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"
#include "sextant/distributed/merging_plan.hpp"
#include "sextant/distributed/tiled_image.hpp"
#include "sextant/format/frame_catalogue.hpp"
#include "sextant/report/page.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::command {

namespace {

int run_label(const Values& values) {
    launch_tiles(values, [&](Communicator communicator) {
        LabelRun(values, std::move(communicator)).run();
    });
    return 0;
}

std::vector<Parameter> parameters() {
    return {{.name = "image",
             .type = Type::file,
             .value = "IMAGE",
             .help = "a gray image, or a series with --frame; 0 is the background",
             .positional = true,
             .required = true},
            {.name = "output",
             .type = Type::file,
             .value = "OUT",
             .help = "labels from 1 on, of 32 bits: .tif or .npy",
             .letter = 'o',
             .required = true},
            {.name = "table",
             .type = Type::file,
             .value = "FILE",
             .help = "area, box and centroid of each component, as CSV"},
            {.name = "neighbours",
             .type = Type::choice,
             .value = "N",
             .fallback = "8",
             .help = "which pixels touch",
             .choices = {"4", "8"}},
            {.name = "by-value",
             .type = Type::flag,
             .help = "only pixels of equal value belong together"},
            memory_parameter("1024", "for the image and its labels; larger ones "
                                     "stream, read twice"),
            frame_parameter(),
            channel_parameter(),
            slice_parameter(),
            external_parameter(),
            ranks_parameter(),
            grid_parameter(),
            pattern_parameter(),
            machine_parameter(),
            no_probe_parameter(),
            report_parameter(),
            json_parameter()};
}

} // namespace

Operation label_operation() {
    return {"label", "connected components of an image, in tiles over ranks",
            "  sextant label cells.tif -o labels.tif --table cells.csv\n"
            "  mpirun -n 2 sextant label classes.png -o labels.npy --by-value --neighbours 4",
            parameters(), run_label};
}

namespace {

kernel::Connection connection_from(const Values& values) {
    return {values.text("neighbours") == "4" ? kernel::Neighbours::four : kernel::Neighbours::eight,
            values.flag("by-value") ? kernel::Sameness::value : kernel::Sameness::foreground};
}

/// The expected length of a tile's border list: border pixels times the fraction of non-background
/// pixels.
Elements entries_expected(const distributed::Image& image) {
    const Tile tile = image.tile();
    if (tile.elements() == 0)
        return 0;
    const Elements inside = std::visit(
        [&](const auto* first) -> Elements {
            return tile.elements() - std::count(first, first + tile.elements(), 0);
        },
        distributed::value_view(image).first);
    return 2 * (tile.width + tile.height) * inside / tile.elements();
}

/// Memory of all ranks per pixel of a strip: its sample and label, both again at rank 0 if
/// gathered, and its runs and bits, in whole bytes.
Bytes bytes_a_pixel(const ElementFormat& element, kernel::Connection connection) {
    const bool by_value = connection.sameness == kernel::Sameness::value;
    const Bytes label = sizeof(kernel::Label);
    return element.size * (by_value ? 2 : 1) + 2 * label + (by_value ? label : label / 2) + 1;
}

/// A row of samples as value codes.
std::vector<std::uint64_t> row_of(const Image& image, const ElementFormat& element, Elements y) {
    std::vector<std::uint64_t> row;
    std::visit(
        [&](const auto* first) {
            const auto* const begin = first + y * image.shape().width;
            std::transform(begin, begin + image.shape().width, std::back_inserter(row),
                           [](auto value) { return kernel::value_code(value); });
        },
        distributed::values_of(element, image.bytes().data()).first);
    return row;
}

std::string samples_of(const FrameHeader& header) {
    return fmt::format("{} {}", header.channels < 3 ? "gray" : "colour", name(header.sample));
}

/// Refuses --by-value for colours whose luminance is not unique: different colours may have the
/// same.
void check_values(const RowSource& source, kernel::Connection connection) {
    const FrameHeader& header = source.header();
    if (header.channels >= 3 && size_of(header.sample) > 2 &&
        connection.sameness == kernel::Sameness::value)
        throw InvalidTask(fmt::format("--by-value: {} has colours of {}, expected 8 or 16 bits a "
                                      "channel, or one channel",
                                      source.path(), name(header.sample)));
}

} // namespace

LabelRun::LabelRun(const Values& values, Communicator communicator)
    : values_(values),
      communicator_(std::move(communicator)),
      progress_(communicator_.rank() == 0),
      seams_(connection_from(values)) {}

void LabelRun::run() {
    agree(communicator_, [&] { open(); });
    if (summary_.strips > 1) {
        label_strips("label", [&](const Strip& strip) { join(strip); });
        number();
    }
    label_strips(summary_.strips > 1 ? "write" : "label", [&](const Strip& strip) {
        if (summary_.strips == 1) {
            summary_.components = strip.labelled.components;
            measure(strip);
        }
        timed(summary_.write, [&] { write(strip); });
    });
    agree(communicator_, [&] {
        if (!tells())
            return;
        sink_->commit();
        write_table();
        report();
    });
}

/// Checks the parameters before labelling. Only rank 0 writes files.
void LabelRun::open() {
    source_ = open_image(values_, ReadAs::values);
    summary_.image = values_.text("image");
    summary_.output = values_.text("output");
    summary_.element = samples_of(source_->header());
    summary_.shape = source_->shape();
    summary_.connection = connection_from(values_);
    check_values(*source_, summary_.connection);
    summary_.ranks = communicator_.size();
    summary_.transport = transport_of(communicator_);
    summary_.warnings = source_->header().remarks;
    const Elements rows = rows_of_strips();
    summary_.strips = (summary_.shape.height + rows - 1) / rows;
    summary_.grid = grid_of(values_, {summary_.shape.width, rows}, communicator_.size());
    merging_request(values_).check();
    if (tells())
        create_sink();
}

void LabelRun::create_sink() {
    const auto outputs = files_given(values_, {"output", "table", "json", "report"});
    check_frames_name(summary_.output, Sample::u32);
    keep_inputs(files_read(values_), outputs);
    check_outputs(outputs);
    FrameHeader header;
    header.frames = 1;
    header.shape = summary_.shape;
    header.sample = Sample::u32;
    header.pixel = source_->header().pixel;
    sink_ = format::create_frames(summary_.output, header);
    if (values_.has("report"))
        shown_.emplace(overview_of(*open_image(values_)));
}

/// Rows per strip: as many as fit in memory.
Elements LabelRun::rows_of_strips() const {
    const Bytes row = summary_.shape.width * bytes_a_pixel(source_->element(), summary_.connection);
    const Elements rows = (values_.integer("memory") << 20) / row;
    if (rows < 1)
        throw InvalidTask(fmt::format("--memory {}: a row of {} pixels and its labels takes {} MiB",
                                      values_.integer("memory"), summary_.shape.width,
                                      (row >> 20) + 1));
    return std::min(rows, summary_.shape.height);
}

LabelRun::Strip LabelRun::label_strip(Elements first) {
    Grid grid = summary_.grid;
    grid.height = std::min(grid.height, summary_.shape.height - first);
    std::optional<distributed::Image> image;
    timed(summary_.read, [&] {
        agree(communicator_,
              [&] { image = distributed::read_tiles(communicator_, grid, *source_, first); });
    });
    if (!summary_.plan.pattern)
        summary_.plan =
            distributed::planned_merging(communicator_, merging_request(values_), grid,
                                         entries_expected(*image), sizeof(contour::BorderPixel));
    std::optional<Labelled> labelled;
    timed(summary_.label, [&] { labelled = label(*image); });
    return {first, *image, *labelled};
}

/// Labels a strip; records the merging of the first strip.
Labelled LabelRun::label(const distributed::Image& image) {
    const bool shows = values_.has("report") && summary_.merging.sent.empty();
    std::optional<TraceClocks> clocks;
    if (shows)
        clocks.emplace(communicator_);
    MergingRecord record;
    Labelled labelled = label_components(image, summary_.connection, *summary_.plan.pattern,
                                         shows ? &record : nullptr);
    if (shows)
        summary_.merging = gather_merging(communicator_, *clocks, record);
    return labelled;
}

void LabelRun::label_strips(const char* what, const std::function<void(const Strip&)>& take) {
    for (Elements first = 0; first < summary_.shape.height; first += summary_.grid.height) {
        progress_.say(fmt::format("{} {} %", what, 100 * first / summary_.shape.height));
        take(label_strip(first));
    }
}

/// Joins components that touch across the seam to the strip above.
void LabelRun::join(const Strip& strip) {
    const Image labels = distributed::gather(strip.labelled.labels);
    const bool by_value = summary_.connection.sameness == kernel::Sameness::value;
    const Image samples = by_value ? distributed::gather(strip.image) : Image();
    measure(strip);
    agree(communicator_, [&] {
        if (!tells())
            return;
        const auto width = static_cast<std::size_t>(labels.shape().width);
        const std::span all(reinterpret_cast<const kernel::Label*>(labels.bytes().data()),
                            static_cast<std::size_t>(labels.shape().elements()));
        std::vector<std::uint64_t> top, bottom;
        if (by_value) {
            top = row_of(samples, source_->element(), 0);
            bottom = row_of(samples, source_->element(), samples.shape().height - 1);
        }
        seams_.add(static_cast<kernel::Label>(strip.labelled.components), {all.first(width), top},
                   {all.last(width), bottom});
    });
}

/// Collects the components of a strip for the table.
void LabelRun::measure(const Strip& strip) {
    if (!values_.has("table"))
        return;
    for (kernel::Component component : gather_components(strip.labelled)) {
        component.first += strip.first * summary_.shape.width;
        component.box.y += strip.first;
        component.sum_y += strip.first * component.area;
        measured_.push_back(component);
    }
}

/// Numbers the components of the image, by those of its strips.
void LabelRun::number() {
    agree(communicator_, [&] {
        if (!tells())
            return;
        summary_.components = seams_.finish();
        std::vector<kernel::Component> all(
            measured_.empty() ? 0 : static_cast<std::size_t>(summary_.components));
        auto part = measured_.begin();
        for (Elements strip = 0; strip < summary_.strips && !all.empty(); ++strip) {
            for (const kernel::Label number : seams_.numbers(static_cast<std::size_t>(strip)))
                all[static_cast<std::size_t>(number - 1)].add(*part++);
        }
        measured_ = std::move(all);
    });
}

void LabelRun::write(const Strip& strip) {
    Image whole = distributed::gather(strip.labelled.labels);
    agree(communicator_, [&] {
        if (!tells())
            return;
        if (summary_.strips > 1) {
            const std::span<const kernel::Label> numbers =
                seams_.numbers(static_cast<std::size_t>(strip.first / summary_.grid.height));
            auto* const first = reinterpret_cast<kernel::Label*>(whole.bytes().data());
            std::transform(first, first + whole.shape().elements(), first,
                           [numbers](kernel::Label label) {
                               return label == 0 ? 0 : numbers[static_cast<std::size_t>(label - 1)];
                           });
        }
        sink_->write_samples(whole.bytes());
        if (shown_)
            shown_->add(strip.first, whole.pixels<kernel::Label>(), summary_.shape.width);
    });
}

/// Columns label,area,x,y,width,height,centroid_x,centroid_y; one row per component.
void LabelRun::write_table() {
    if (!values_.has("table"))
        return;
    std::string text = "label,area,x,y,width,height,centroid_x,centroid_y\n";
    for (std::size_t i = 0; i < measured_.size(); ++i) {
        const kernel::Component& each = measured_[i];
        text += fmt::format("{},{},{},{},{},{},{},{}\n", i + 1, each.area, each.box.x, each.box.y,
                            each.box.width, each.box.height, each.x(), each.y());
    }
    write_text(values_.text("table"), text);
}

void LabelRun::report() {
    progress_.clear();
    if (shown_)
        summary_.picture = shown_->png();
    tell_run(values_, summary_.warnings, to_json(summary_), to_text(summary_),
             values_.has("report") ? to_page(summary_) : "");
}

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

} // namespace sextant::command
