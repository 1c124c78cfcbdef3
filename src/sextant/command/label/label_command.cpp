// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/label/label_command.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/provenance.hpp"
#include "sextant/command/commands.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/core/atomic_file.hpp"
#include "sextant/core/progress.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace sextant::command {

Record record_of(LabelCommand& command) {
    Record record = record_of(command.source,
                              "a grey image, or a volume: a series of planes; 0 is the background");
    declare_output(record, command.output, "OUT",
                   "the labels, 32-bit integers: .tif, .npy, .nii, .nii.gz, .h5 or .zarr");
    record.add("table", command.table, "FILE", "write a table of the components (CSV)").file();
    record.add("pyramid", command.pyramid,
               "OME-Zarr: also write successively halved resolutions, for viewers");
    declare_zarr(record, command.zarr);
    Record label = sextant::record_of(command.label);
    label.without("measure").without("timeline").without("threads");
    offer_no_probe(label, command.label.merging.probing);
    record.include(record_of(command.intensity,
                             "add sum, mean and extremes of this image or volume to the table"));
    record.include(std::move(label));
    declare_ranks(record, command.ranks, "one per tile, or one with a thread per core");
    return record.include(record_of(command.reports));
}

Effects effects_of(LabelCommand& command) {
    const auto has_table = [&] {
        return !command.table.empty() || !command.reports.report.empty();
    };
    Effects effects = with_no_probe(sextant::effects_of(command.label));
    effects.insert(
        effects.end(),
        {effect_of_merging(command.ranks, command.label.grid),
         {{"columns"}, "there is no table: expected --table or --report", has_table},
         effect_of(command.intensity),
         {{"intensity"}, "it adds columns to the table: expected --table or --report", has_table},
         {{"intensity", "intensity_channel"},
          "not supported for tiles: omit --grid and --pattern",
          [&] { return !command.label.in_tiles(); }},
         effect_of_external({command.source.image, command.intensity.file}),
         effect_of_zarr(command.output)});
    return effects;
}

namespace {

/// Runs the command on one rank.
class LabelRun {
  public:
    /// `opened`: the source of the command, for the only rank; null on several ranks.
    LabelRun(const LabelCommand& command, const Communicator& communicator,
             std::unique_ptr<FrameSource> opened)
        : command_(command),
          communicator_(communicator),
          progress_(communicator.rank() == 0),
          volume_(std::move(opened)) {}

    /// Collective.
    void run() {
        std::optional<Labelling> labelling;
        open_sources();
        agree(communicator_, [&] { open_files(); });
        if (files_->identify())
            remarks_.push_back(
                fmt::format("{}: the results of a failed run with other inputs were removed",
                            files_->folder()));
        agree(communicator_, [&] {
            LabelOptions options = command_.label;
            options.checkpoint = files_->folder();
            options.identity = files_->identity();
            labelling.emplace(communicator_, options,
                              RunControl{[&](std::string_view part, Elements done, Elements all) {
                                  progress_.say(fmt::format("{} {} %", part, 100 * done / all));
                              }});
        });
        label(*labelling);
        agree(communicator_, [&] {
            if (result_.resumed > 0)
                remarks_.push_back(fmt::format(
                    "continued an earlier run: {} of {} {} were labelled, {} {} written",
                    result_.resumed, result_.slabs, command_.is_image ? "strips" : "slabs",
                    files_->stored(), command_.is_image ? "rows" : "planes"));
            if (result_.nan > 0)
                remarks_.push_back(fmt::format("{} {} are NaN and count as background", result_.nan,
                                               command_.is_image ? "pixels" : "voxels"));
            if (std::string remark = remark_on_sums(files_->sums_beyond()); !remark.empty())
                remarks_.push_back(std::move(remark));
            if (is_root())
                finish();
        });
    }

  private:
    bool is_root() const { return communicator_.rank() == 0; }
    bool shows() const { return !command_.reports.report.empty(); }

    /// Opens the image or volume to label and the intensities to measure.
    void open_sources() {
        const SourceChoice& source = command_.source;
        if (!volume_)
            volume_ = open_on_ranks(communicator_, [&](const ScratchPlace& copy) {
                return format::open_frames(source.image, source.options(copy));
            });
        agree(communicator_, [&] {
            if (command_.is_image)
                image_ = std::make_unique<RowSource>(std::move(volume_), source.frame.value_or(0),
                                                     ReadAs::values);
        });
        const bool same_file = volume_ && command_.intensity.file == source.image;
        intensity_ = open_on_ranks(communicator_, [&](const ScratchPlace& copy) {
            return command_.intensity.open(source, same_file ? volume_->share() : copy);
        });
        agree(communicator_, [&] {
            if (intensity_)
                measured_ = command_.intensity.input(*intensity_, source, command_.is_image);
        });
    }

    void open_files() {
        remarks_ = header().remarks;
        if (intensity_ && command_.intensity.file != command_.source.image) {
            for (std::string& remark : command_.intensity.remarks(*intensity_))
                remarks_.push_back(std::move(remark));
        }
        FrameHeader labels;
        if (command_.is_image) {
            labels.frames = 1;
            labels.shape = header().shape;
            labels.pixel = header().pixel;
        } else {
            labels = header();
        }
        const auto measured =
            intensity_ ? std::optional(intensity_->header().sample) : std::nullopt;
        files_.emplace(communicator_, command_, labels,
                       intensity_ ? intensity_.get() : volume_.get(), measured);
        if (!is_root())
            return;
        const auto outputs = files_named(
            {command_.output, command_.table, command_.reports.json, command_.reports.report});
        check_frames_name(command_.output, Sample::u32);
        labels.sample = Sample::u32;
        if (std::string lost =
                format::remark_on_lost_pixel(command_.output, labels, files_->options());
            !lost.empty())
            remarks_.push_back(std::move(lost));
        std::vector<std::string> inputs =
            files_read(command_.source, command_.label.merging.machine, outputs);
        for (const std::string& file : command_.intensity.files(command_.source, outputs))
            inputs.push_back(file);
        check_outputs(outputs, inputs);
        files_->hold_folder();
    }

    void label(const Labelling& labelling) {
        std::optional<TraceClocks> clocks;
        if (shows() && command_.label.in_tiles())
            clocks.emplace(communicator_);
        LabelOptions options = command_.label;
        try {
            naming_options(sextant::record_of(options), [&] {
                result_ = labelling.run(image_ ? LabelInput(*image_) : LabelInput(*volume_),
                                        measured_ ? &*measured_ : nullptr, *files_);
            });
            if (is_root())
                together_.emplace();
            files_->commit();
        } catch (const AgreedFailure& failure) {
            explain(failure);
        }
        if (clocks)
            merging_ = gather_merging(communicator_, *clocks, result_.merging);
    }

    void finish() {
        progress_.clear();
        write_reports(command_.reports, remarks_, json(), text(), shows() ? page() : "");
        together_->commit();
        files_->remove_folder();
    }

    /// Rethrows the failure; if a file failed, such as on a full disk, adds how to continue.
    /// Collective.
    [[noreturn]] void explain(const AgreedFailure& failure) const {
        const int kept = is_root() && files_->keeps_results() ? 1 : 0;
        if (failure.fault() != AgreedFailure::Fault::file || communicator_.all_gather(kept)[0] == 0)
            throw AgreedFailure(failure.what(), failure.fault());
        if (is_root())
            files_->mark_failed();
        throw AgreedFailure(fmt::format("{}; results so far are kept in {}: the same command "
                                        "continues from them",
                                        failure.what(), files_->folder()),
                            failure.fault());
    }

    std::string text() const {
        const bool is_image = command_.is_image;
        std::string removed, slabs, tiles;
        if (command_.label.fill_holes)
            removed = fmt::format(", {} filled", report::counted(result_.holes, "hole"));
        if (result_.removed > 0)
            removed += fmt::format(", {} removed", report::counted(result_.removed, "component"));
        if (result_.slabs > 1)
            slabs = fmt::format(", in {} {} of {}", result_.slabs, is_image ? "strips" : "slabs",
                                report::counted(result_.slab_planes, is_image ? "row" : "plane"));
        if (result_.grid)
            tiles = fmt::format("{}x{} tiles, merged by {} ({}){}\n", result_.grid->columns,
                                result_.grid->rows, result_.plan.text(), result_.plan.reason,
                                std::exchange(slabs, ""));
        else if (result_.slabs > 1)
            slabs += ": " + result_.reason;
        const char* const bits = result_.label_bits == 64 ? ", with 64-bit labels" : "";
        return fmt::format("{}: {} of {}{}{}, on {}{}\n{}", command_.output,
                           report::counted(result_.components, "component"),
                           size_text(result_.shape), removed, bits,
                           ranks_text(communicator_.size(), transport_of(communicator_)), slabs,
                           tiles) +
               phases_text(phases_of_labels(result_));
    }

    /// Returns one JSON object; docs/json.md describes its fields.
    std::string json() const {
        LabelOptions options = command_.label;
        const bool is_image = command_.is_image;
        Record record = results_of("label");
        record.include({{"image", command_.source.image}, {"output", command_.output}});
        if (is_image)
            record.include({{"width", result_.shape.width},
                            {"height", result_.shape.depth},
                            {"element", kind_of_image(header())},
                            {"neighbours", neighbours_of(options, is_image)},
                            {"by_value", options.by_value}});
        else
            record.include({{"depth", result_.shape.depth},
                            {"height", result_.shape.height},
                            {"width", result_.shape.width},
                            {"element", name(header().sample)}});
        if (!result_.grid)
            record.include({{"options", record_in_slabs(options)}});
        record.include(sextant::record_of(result_))
            .include({{"ranks", communicator_.size()}, {"transport", transport_of(communicator_)}})
            .include(provenance_of_run(remarks_));
        return to_json(record);
    }

    std::string page() const {
        return to_page({command_, result_, files_->sizes(), header(), files_->slices(),
                        files_->overview(), merging_, remarks_, communicator_.size(),
                        transport_of(communicator_)});
    }
    const FrameHeader& header() const { return image_ ? image_->header() : volume_->header(); }

    const LabelCommand& command_;
    const Communicator& communicator_;
    Progress progress_;
    std::unique_ptr<FrameSource> volume_, intensity_;
    std::unique_ptr<RowSource> image_;
    std::optional<LabelInput> measured_;
    std::optional<LabelFiles> files_;
    std::optional<JointCommit> together_; // commits all outputs together
    std::vector<std::string> remarks_;
    LabelResult result_;
    GatheredMerging merging_; // merging of the first strip in tiles; only for a page
};

/// Labels on one rank per tile if there are tiles; else on the ranks of the launcher; else on one
/// rank with threads.
int run_label(const LabelCommand& given, const Call& call) {
    LabelCommand command = given;
    std::unique_ptr<FrameSource> opened =
        format::open_frames(given.source.image, given.source.options());
    command.is_image = given.source.frame || opened->header().frames == 1;
    call.check_effects(command.is_image ? "an image" : "a volume", given.source.image);
    LabelOptions& options = command.label;
    sextant::record_of(options)["neighbours"].set(
        fmt::to_string(neighbours_of(options, command.is_image)));
    const bool in_tiles = options.in_tiles();
    options.measure = !command.table.empty() || (!command.reports.report.empty() && !in_tiles);
    options.merging.timeline = in_tiles && !command.reports.report.empty();
    const auto run = [&](const Communicator& communicator) {
        LabelCommand own = command;
        own.label.threads = std::max(1, cores_of_host() / communicator.size());
        LabelRun(own, communicator, communicator.size() == 1 ? std::move(opened) : nullptr).run();
    };
    if (in_tiles)
        launch_tiles(call, options.grid, run);
    else
        launch_ranks(call, static_cast<int>(command.ranks.value_or(1)), run);
    return 0;
}

} // namespace

Operation label_operation() {
    return declare_command<LabelCommand>(
        "label", "find and number the connected components of an image or volume",
        "  sextant label cells.tif -o labels.tif --table cells.csv --min-size 20\n"
        "  mpirun -n 2 sextant label volume.mrc -o labels.npy --by-value --neighbours 6",
        run_label);
}

} // namespace sextant::command
