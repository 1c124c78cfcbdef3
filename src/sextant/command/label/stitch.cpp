// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/provenance.hpp"
#include "sextant/command/commands.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/core/atomic_file.hpp"
#include "sextant/core/progress.hpp"
#include "sextant/format/block_list.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/label/stitching.hpp"
#include "sextant/report/text.hpp"

#include <memory>
#include <optional>

#include <fmt/format.h>

namespace sextant::command {

namespace {

/// The options of `sextant stitch`.
struct StitchCommand {
    SourceChoice source;
    std::string output, table, joins;
    StitchOptions stitch;
    std::optional<std::int64_t> ranks;
    int zarr = 3; ///< Zarr version of a store to write
    Reports reports;
};

Record record_of(StitchCommand& command) {
    Record record = record_of(
        command.source, "list of labelled blocks (.csv), or one labelled volume (with --block)");
    record.without("frame");
    declare_output(record, command.output, "OUT",
                   "the labels, 32-bit integers: .tif, .npy, .nii, .nii.gz, .h5 or .zarr");
    record.include(record_of(command.stitch));
    record
        .add("table", command.table, "FILE",
             "write the stitched label of each label of each block (CSV)")
        .file();
    record
        .add("joins", command.joins, "FILE",
             "write all pairs of overlapping or touching labels (CSV)")
        .file();
    declare_zarr(record, command.zarr);
    declare_ranks(record, command.ranks, "one per core");
    Record reports = record_of(command.reports);
    reports.without("report");
    return record.include(std::move(reports));
}

Effects effects_of(StitchCommand& command) {
    const std::string& image = command.source.image;
    Effect external = effect_of_external({image});
    if (format::is_block_list(image)) {
        external.condition = [image] {
            std::vector<std::string> files;
            for (const format::BlockFile& block : format::read_block_list(image).blocks)
                files.push_back(block.file);
            return effect_of_external(std::move(files)).condition();
        };
    }
    return {{{"allow_gaps"},
             "one volume has no gaps; expected --size, or a list of blocks (.csv)",
             [&] { return format::is_block_list(image) || !command.stitch.size.empty(); }},
            effect_of_zarr(command.output),
            std::move(external)};
}

/// Throws because the file is a volume, but positions (or, with `by_block`, the sides of --block)
/// are given as rows and columns.
[[noreturn]] void refuse_planes(const std::string& file, std::int64_t planes, bool by_block) {
    if (by_block)
        throw InvalidTask(
            fmt::format("block: {} has {} planes, expected three numbers, D,H,W", file, planes));
    throw InvalidFile(file, fmt::format("has {} planes, expected one, because positions and sizes "
                                        "are in rows and columns",
                                        planes));
}

std::string_view name_of(kernel::MatchOutcome outcome) {
    return outcome == kernel::MatchOutcome::joined     ? "joined"
           : outcome == kernel::MatchOutcome::conflict ? "conflict"
                                                       : "below";
}

/// Runs the command on one rank. Rank 0 writes the files.
class StitchCommandRun {
  public:
    StitchCommandRun(const StitchCommand& command, const Communicator& communicator)
        : command_(command),
          communicator_(communicator),
          progress_(communicator.rank() == 0),
          stitching_(communicator, options_of(command),
                     RunControl{[&](std::string_view part, Elements done, Elements all) {
                         progress_.say(fmt::format("{} {} %", part, 100 * done / all));
                     }}) {}

    void run() {
        StitchOptions options = command_.stitch;
        naming_options(record_of(options), [&] {
            agree(communicator_, [&] { open(); });
            result_ = stitching_.stitch(*blocks_, [&](std::span<const ObjectNumber> rows) {
                sink_->write_samples(std::as_bytes(rows));
            });
        });
        agree(communicator_, [&] {
            if (communicator_.rank() == 0)
                finish();
        });
    }

  private:
    /// Returns the options with three numbers each: images have only rows and columns.
    static StitchOptions options_of(const StitchCommand& command) {
        StitchOptions options = command.stitch;
        if (options.block.size() == 2)
            options.block.insert(options.block.begin(), 0);
        if (options.size.size() == 2)
            options.size.insert(options.size.begin(), 1);
        return options;
    }

    /// Returns the blocks that the command line specifies.
    std::vector<LabelBlock> listed() {
        const std::string& image = command_.source.image;
        format::BlockList list;
        if (format::is_block_list(image)) {
            list = format::read_block_list(image);
            files_.push_back(image);
        } else {
            if (command_.stitch.block.empty())
                throw InvalidTask(
                    fmt::format("{} is one volume: expected --block D,H,W, the size of the blocks "
                                "in which it was labelled, or a list of blocks (.csv)",
                                image));
            list.blocks.push_back({image, {}});
        }
        const bool of_images = list.of_images || command_.stitch.block.size() == 2;
        std::vector<LabelBlock> blocks;
        for (const format::BlockFile& block : list.blocks) {
            series_.push_back(block.file);
            blocks.push_back({block.file, block.position,
                              [file = block.file, of_images, by_block = !list.of_images,
                               options = command_.source.options()] {
                                  auto source = format::open_frames(file, options);
                                  if (of_images && source->header().frames != 1)
                                      refuse_planes(file, source->header().frames, by_block);
                                  return source;
                              }});
        }
        return blocks;
    }

    void open() {
        blocks_.emplace(stitching_.open(listed()));
        if (communicator_.rank() != 0)
            return;
        const auto outputs =
            files_named({command_.output, command_.table, command_.joins, command_.reports.json});
        check_frames_name(command_.output, Sample::u32);
        for (const std::string& name : series_) {
            for (std::string& file : files_of_series(name, command_.source.options(), outputs))
                files_.push_back(std::move(file));
        }
        check_outputs(outputs, files_);
        FrameHeader header = blocks_->header();
        header.frames = blocks_->shape().depth;
        header.shape = {blocks_->shape().width, blocks_->shape().height};
        header.sample = Sample::u32;
        header.remarks = {};
        header.hyperstack = {};
        if (position(0) != "0,0,0")
            header.grid = {}; // the grid has the position of another voxel
        const format::SinkOptions options{.axis = header.frames > 1 ? format::StackAxis::slices
                                                                    : format::StackAxis::time,
                                          .label_image = true,
                                          .zarr_version = command_.zarr};
        remarks_ = blocks_->remarks();
        if (std::string lost = format::remark_on_lost_pixel(command_.output, header, options);
            !lost.empty())
            remarks_.push_back(std::move(lost));
        sink_ = format::create_frames(command_.output, header, options);
    }

    void finish() {
        JointCommit together;
        sink_->commit();
        if (!command_.table.empty())
            write_text(command_.table, table());
        if (!command_.joins.empty())
            write_text(command_.joins, joins());
        progress_.clear();
        write_reports(command_.reports, remarks_, json(), text(), "");
        together.commit();
    }

    std::string position(int block) const {
        const auto& low = blocks_->cover().blocks()[static_cast<std::size_t>(block)].low;
        return fmt::format("{},{},{}", low[0], low[1], low[2]);
    }

    std::string table() const {
        std::string text = "label,z,y,x,block_label,voxels,kept\n";
        for (const StitchedLabel& label : result_.table)
            text += fmt::format("{},{},{},{},{}\n", label.number, position(label.block),
                                label.label, label.voxels, label.kept);
        return text;
    }

    std::string joins() const {
        std::string text = "z_a,y_a,x_a,label_a,z_b,y_b,x_b,label_b,voxels,union,iou,outcome\n";
        for (const kernel::LabelMatch& match : result_.matches)
            text += fmt::format("{},{},{},{},{},{},{},{}\n", position(match.block_a), match.a,
                                position(match.block_b), match.b, match.voxels, match.either,
                                match.iou(), name_of(match.outcome));
        return text;
    }

    std::string text() const {
        return fmt::format("{}: {} in a volume of {}x{}x{} voxels, from {} in {}, on {}\n"
                           "{} joined, {} in conflict, {} below the threshold; {} dropped, "
                           "{} clipped\n",
                           command_.output, report::counted(result_.objects, "object"),
                           result_.shape.depth, result_.shape.height, result_.shape.width,
                           report::counted(result_.labels, "label"),
                           report::counted(result_.blocks, "block"),
                           ranks_text(communicator_.size(), transport_of(communicator_)),
                           report::counted(result_.joined, "pair"), result_.conflicts,
                           result_.below, report::counted(result_.dropped, "label"),
                           result_.clipped) +
               phases_text(
                   {{"read", result_.read}, {"match", result_.match}, {"write", result_.write}});
    }

    std::string json() const {
        StitchOptions options = options_of(command_);
        Record record = results_of("stitch");
        record
            .include({{"image", command_.source.image},
                      {"output", command_.output},
                      {"options", record_of(options)}})
            .include(record_of(result_))
            .include({{"ranks", communicator_.size()}, {"transport", transport_of(communicator_)}})
            .include(provenance_of_run(remarks_));
        return to_json(record);
    }

    const StitchCommand& command_;
    const Communicator& communicator_;
    Progress progress_;
    const Stitching stitching_;
    std::vector<std::string> files_, series_; // input files and series
    std::optional<label::LabelBlocks> blocks_;
    std::unique_ptr<FrameSink> sink_;
    std::vector<std::string> remarks_;
    StitchResult result_;
};

int run_stitch(const StitchCommand& command, const Call& call) {
    launch_ranks_or_cores(call, [&](const Communicator& communicator) {
        StitchCommandRun(command, communicator).run();
    });
    return 0;
}

} // namespace

Operation stitch_operation() {
    return declare_command<StitchCommand>(
        "stitch", "join segmentations of blocks into one image or volume",
        "  sextant stitch blocks.csv -o labels.tif --joins joins.csv\n"
        "  sextant stitch planes.tif -o labels.tif --block 1,0,0 --threshold 0.25\n"
        "  mpirun -n 2 sextant stitch chunks.zarr -o labels.zarr --block 64,512,512 --by voxels",
        run_stitch);
}

} // namespace sextant::command
