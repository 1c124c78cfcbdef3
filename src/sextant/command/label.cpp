// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/provenance.hpp"
#include "sextant/command/commands.hpp"
#include "sextant/command/label_volume.hpp"
#include "sextant/command/merging_report.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/command/overview.hpp"
#include "sextant/core/atomic_file.hpp"
#include "sextant/core/progress.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/label/tiled_labelling.hpp"
#include "sextant/report/page.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace sextant::command {

namespace {

/// The options of `sextant label`.
struct LabelCommand {
    SourceChoice source;
    std::string output, table;
    std::string neighbours;
    LabelOptions label = {.merging = {.probing = planner::Probing::now}};
    IntensityChoice intensity;
    std::int64_t min_size = 0, keep_largest = 0;
    int zarr = 3; ///< version of a store that is written
    bool fill_holes = false, pyramid = false;
    std::optional<std::int64_t> ranks;
    Reports reports;
};

Record record_of(LabelCommand& command) {
    Record record = record_of(command.source,
                              "a grey image, or a volume: a series of planes; 0 is the background");
    record
        .add("output", command.output, "OUT",
             "the labels, 32-bit integers: .tif, .npy, .nii, .nii.gz, .h5 or .zarr")
        .file()
        .letter('o')
        .required();
    record
        .add("table", command.table, "FILE",
             "write a table of the components (CSV): sizes, boxes, centroids")
        .file();
    record.add("pyramid", command.pyramid,
               "OME-Zarr: also write levels of half the resolution, for viewers");
    declare_zarr(record, command.zarr);
    record
        .add("neighbours", command.neighbours, "N",
             "connectivity, by default 8 in images and 26 in volumes")
        .one_of({"4", "8", "6", "18", "26"});
    Record label = record_of(command.label);
    label.without("measure").without("timeline").without("neighbours");
    record.include(record_of(command.intensity,
                             "volumes: add sum, mean and extremes of this volume to the table"));
    record.add("fill_holes", command.fill_holes,
               "volumes: first fill background that components enclose");
    record
        .add("min_size", command.min_size, "N",
             "volumes: components of fewer voxels become background")
        .between(0, 1e15);
    record
        .add("keep_largest", command.keep_largest, "N",
             "volumes: keep only this many of the largest components; 0: all")
        .between(0, 1e15);
    offer_no_probe(label, command.label.merging.probing);
    record.include(std::move(label));
    declare_ranks(record, command.ranks, "one per tile of --grid, or one per core");
    return record.include(record_of(command.reports));
}

constexpr std::string_view an_image = "an image", a_volume = "a volume";

Effects effects_of(LabelCommand& command) {
    Effects effects = effects_of(command.intensity);
    for (Effect& effect : effects_of_planning(command.label.merging.machine))
        effects.push_back(std::move(effect));
    effects.push_back({{"machine", "no_probe"}, "--pattern states how tiles are merged", [&] {
                           return command.label.merging.pattern == "auto";
                       }});
    effects.push_back({{"pattern", "machine", "no_probe"},
                       "one rank has no tiles to merge: expected --ranks 2 or more",
                       [&] { return !is_one_rank(command.ranks, command.label.grid); }});
    effects.push_back({{"intensity"},
                       "it adds columns to the table: expected --table or --report",
                       [&] { return !command.table.empty() || !command.reports.report.empty(); }});
    effects.push_back({{"fill_holes", "min_size", "keep_largest", "intensity", "intensity_channel"},
                       "expected a volume",
                       nullptr,
                       a_volume});
    effects.push_back(effect_of_external({command.source.image, command.intensity.file}));
    effects.push_back(effect_of_zarr(command.output));
    effects.push_back({{"grid", "pattern", "machine", "no_probe"},
                       "whose planes are divided among --ranks",
                       nullptr,
                       an_image});
    return effects;
}

std::string kind_of_image(const FrameHeader& header) {
    return fmt::format("{} {}", header.channels < 3 ? "gray" : "colour", name(header.sample));
}

/// A CSV table with columns label,area,x,y,width,height,centroid_x,centroid_y and one row per
/// component.
std::string table_of(const std::vector<kernel::Component>& components) {
    std::string text = "label,area,x,y,width,height,centroid_x,centroid_y\n";
    for (std::size_t i = 0; i < components.size(); ++i) {
        const kernel::Component& each = components[i];
        text += fmt::format("{},{},{},{},{},{},{},{}\n", i + 1, each.area, each.box.x, each.box.y,
                            each.box.width, each.box.height, each.x(), each.y());
    }
    return text;
}

/// A run of the command. Rank 0 writes the files.
class LabelRun {
  public:
    LabelRun(const LabelCommand& command, const Communicator& communicator)
        : command_(command),
          options_(command.label),
          communicator_(communicator),
          progress_(communicator.rank() == 0) {
        options_.measure = !command.table.empty();
        options_.merging.timeline = shows();
    }

    /// Collective.
    void run();

  private:
    void open();
    void label();
    void finish();
    std::string text() const;
    std::string json() const;
    std::string page() const;
    bool shows() const { return !command_.reports.report.empty(); }
    std::vector<std::string> remarks() const;
    std::string components() const { return report::counted(result_.components, "component"); }
    std::string ranks() const { return report::counted(communicator_.size(), "rank"); }
    ImageShape shape() const { return source_->shape(); }

    const LabelCommand& command_;
    LabelOptions options_;
    const Communicator& communicator_;
    Progress progress_;
    std::unique_ptr<RowSource> source_;
    std::unique_ptr<FrameSink> sink_;
    std::string lost_pixel_;                // a warning that the output lacks the pixel size, or ""
    std::optional<LabelOverview> overview_; ///< set only for a report page
    std::optional<Labelling> labelling_;
    LabelResult result_;
    GatheredMerging merging_; ///< merging of the first strip; set only for a report page
};

void LabelRun::run() {
    const bool is_root = communicator_.rank() == 0;
    agree(communicator_, [&] {
        source_ = open_image(command_.source, ReadAs::values);
        labelling_.emplace(communicator_, options_,
                           RunControl{[&](std::string_view part, Elements done, Elements all) {
                               progress_.say(fmt::format("{} {} %", part, 100 * done / all));
                           }});
        if (is_root)
            open();
    });
    label();
    agree(communicator_, [&] {
        if (is_root)
            finish();
    });
}

/// Opens the outputs.
void LabelRun::open() {
    const auto outputs = files_named(
        {command_.output, command_.table, command_.reports.json, command_.reports.report});
    check_frames_name(command_.output, Sample::u32);
    keep_inputs(files_read(command_.source, options_.merging.machine, outputs), outputs);
    check_outputs(outputs);
    FrameHeader header;
    header.frames = 1;
    header.shape = shape();
    header.sample = Sample::u32;
    header.pixel = source_->header().pixel;
    format::SinkOptions options;
    options.label_image = true;
    options.pyramid = command_.pyramid;
    options.zarr_version = command_.zarr;
    lost_pixel_ = format::remark_on_lost_pixel(command_.output, header, options);
    sink_ = format::create_frames(command_.output, header, options);
    if (shows())
        overview_.emplace(overview_of(*open_image(command_.source, ReadAs::scaled)));
}

void LabelRun::label() {
    std::optional<TraceClocks> clocks;
    if (shows())
        clocks.emplace(communicator_);
    naming_options(record_of(options_), [&] {
        result_ =
            labelling_->run(*source_, [&](Elements first, std::span<const kernel::Label> rows) {
                sink_->write_samples(std::as_bytes(rows));
                if (overview_)
                    overview_->add(first, rows, shape().width);
            });
    });
    if (clocks)
        merging_ = gather_merging(communicator_, *clocks, result_.merging);
}

void LabelRun::finish() {
    JointCommit together;
    sink_->commit();
    if (!command_.table.empty())
        write_text(command_.table, table_of(result_.table));
    progress_.clear();
    write_reports(command_.reports, remarks(), json(), text(), shows() ? page() : "");
    together.commit();
}

/// What the user should know of the image.
std::vector<std::string> LabelRun::remarks() const {
    std::vector<std::string> remarks = source_->header().remarks;
    if (result_.nan > 0)
        remarks.push_back(fmt::format("{} pixels are NaN: background", result_.nan));
    if (!lost_pixel_.empty())
        remarks.push_back(lost_pixel_);
    return remarks;
}

std::string LabelRun::text() const {
    const std::string strips =
        result_.strips == 1
            ? ""
            : fmt::format(", in {} strips of {} rows", result_.strips, result_.grid.height);
    return fmt::format("{}: {} of {}x{} pixels, on {} of {}\n"
                       "{}x{} tiles, merged by {} ({}){}\n"
                       "read {:.1f} ms  label {:.1f} ms  write {:.1f} ms\n",
                       command_.output, components(), shape().width, shape().height, ranks(),
                       transport_of(communicator_), result_.grid.columns, result_.grid.rows,
                       result_.plan.text(), result_.plan.reason, strips, result_.read * 1e3,
                       result_.label * 1e3, result_.write * 1e3);
}

/// A self-contained HTML page: the image with coloured components, the plan and its reason, a
/// timeline of the merging.
std::string LabelRun::page() const {
    report::Page page;
    page.title = "Sextant: " + command_.output;
    page.subtitle = fmt::format("{}: {}", command_.source.image, components());
    page.picture = {
        overview_->png(), "Components in colours over the image",
        components() + ", each in its own colour; with many components, some colours are similar."};
    page.facts = {
        {"Image",
         fmt::format("{}x{}, {}", shape().width, shape().height, kind_of_image(source_->header()))},
        {"Connected",
         fmt::format("{} neighbours{}", options_.neighbours == kernel::Neighbours::four ? 4 : 8,
                     options_.by_value ? " of equal value" : "")},
        {"Tiles", fmt::format("{}x{} on {} of {}", result_.grid.columns, result_.grid.rows, ranks(),
                              transport_of(communicator_))},
        {"Strips", result_.strips == 1 ? "one, because the image fits in memory"
                                       : fmt::format("{} of {} rows; the first is shown below",
                                                     result_.strips, result_.grid.height)},
        {"Merged by", result_.plan.text()},
        {"Why", result_.plan.reason},
        {"Machine", fmt::format("{}, {}", host(), date())}};
    for (const std::string& warning : remarks())
        page.facts.push_back({"Warning", warning});
    page.phases = {{"read", result_.read}, {"label", result_.label}, {"write", result_.write}};
    page.sections = merging_sections(result_.plan, merging_);
    return report::render(page);
}

/// One JSON object; docs/json.md describes its fields.
std::string LabelRun::json() const {
    Record record = {{"operation", "label"},
                     {"version", version()},
                     {"image", command_.source.image},
                     {"output", command_.output},
                     {"width", shape().width},
                     {"height", shape().height},
                     {"element", kind_of_image(source_->header())},
                     {"neighbours", options_.neighbours == kernel::Neighbours::four ? 4 : 8},
                     {"by_value", options_.by_value}};
    record.include(record_of(result_))
        .include({{"ranks", communicator_.size()}, {"transport", transport_of(communicator_)}},
                 "strips")
        .include(provenance_of_run(remarks()));
    return to_json(record);
}

kernel::Neighbours neighbours_named(const std::string& text) {
    return text == "4"    ? kernel::Neighbours::four
           : text == "8"  ? kernel::Neighbours::eight
           : text == "6"  ? kernel::Neighbours::six
           : text == "18" ? kernel::Neighbours::eighteen
                          : kernel::Neighbours::twenty_six;
}

/// Labels a volume: on the ranks of the launcher, or else on one, with threads.
void run_volume(const LabelCommand& command, const Call& call) {
    if (command.neighbours == "4" || command.neighbours == "8")
        throw InvalidTask(fmt::format("--neighbours {}: {} is a volume, expected 6, 18 or 26",
                                      command.neighbours, command.source.image));
    VolumeLabelCommand volume{
        command.source,  command.output,  command.table, command.intensity, {},
        command.reports, command.pyramid, command.zarr};
    volume.label.neighbours = neighbours_named(command.neighbours);
    volume.label.by_value = command.label.by_value;
    volume.label.measure = !command.table.empty() || !command.reports.report.empty();
    volume.label.fill_holes = command.fill_holes;
    volume.label.min_size = command.min_size;
    volume.label.keep_largest = command.keep_largest;
    volume.label.memory = command.label.memory;
    launch_ranks(call, static_cast<int>(command.ranks.value_or(1)),
                 [&](const Communicator& communicator) {
                     VolumeLabelCommand own = volume;
                     own.label.threads = std::max(1, cores_of_host() / communicator.size());
                     label_volume(own, communicator);
                 });
}

int run_label(const LabelCommand& given, const Call& call) {
    const bool of_volume = is_volume(given.source);
    call.check_effects_on(of_volume ? a_volume : an_image, given.source.image);
    if (of_volume) {
        run_volume(given, call);
        return 0;
    }
    if (given.neighbours == "6" || given.neighbours == "18" || given.neighbours == "26")
        throw InvalidTask(fmt::format("--neighbours {}: {} is an image, expected 4 or 8",
                                      given.neighbours, given.source.image));
    LabelCommand command = given;
    if (!given.neighbours.empty())
        command.label.neighbours = neighbours_named(given.neighbours);
    launch_tiles(call, command.label.grid,
                 [&](const Communicator& communicator) { LabelRun(command, communicator).run(); });
    return 0;
}

} // namespace

Operation label_operation() {
    return declare_command<LabelCommand>(
        "label", "find and number the connected components of an image or volume",
        "  sextant label cells.tif -o labels.tif --table cells.csv\n"
        "  mpirun -n 2 sextant label classes.png -o labels.npy --by-value --neighbours 4\n"
        "  sextant label volume.mrc -o labels.npy --table cells.csv --min-size 100",
        run_label);
}

} // namespace sextant::command
