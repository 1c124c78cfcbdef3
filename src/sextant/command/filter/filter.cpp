// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/filter/filter.hpp"

#include "sextant/array/plane_sink.hpp"
#include "sextant/array/sample_offset.hpp"
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/launch.hpp"
#include "sextant/comm/provenance.hpp"
#include "sextant/comm/waiting.hpp"
#include "sextant/command/commands.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/command/pages/overview.hpp"
#include "sextant/command/pages/volume_slices.hpp"
#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"
#include "sextant/core/progress.hpp"
#include "sextant/core/text.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/format/checks.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::command {

namespace {

/// The options of `sextant filter`.
struct FilterCommand {
    SourceChoice source;
    std::string output;
    FilterOptions filter = {.probing = planner::Probing::now};
    std::optional<std::int64_t> ranks, threads;
    std::string plan;
    int zarr = 3; ///< Zarr version of stores to write
    Reports reports;
};

Record record_of(FilterCommand& command) {
    Record record =
        record_of(command.source, "a grey image, or a volume: a series without --frame");
    declare_output(record, command.output, "OUT",
                   "f32 planes (f64 for f64 input): .npy, .tif ...; volumes: one file each");
    Record filter = record_of(command.filter);
    offer_no_probe(filter, command.filter.probing);
    record.include(std::move(filter));
    declare_ranks(record, command.ranks, "one per tile of --grid, or one");
    record
        .add("threads", command.threads, "N",
             "threads per rank; default: one per core on a single rank, otherwise 1")
        .between(1, most_threads);
    record.add("plan", command.plan, "FILE", "use this plan; if the file does not exist, write it")
        .file();
    declare_zarr(record, command.zarr);
    return record.include(record_of(command.reports));
}

/// Returns the usual number of ranks on threads: that of the saved plan, otherwise 1.
int usual_ranks(const FilterCommand& command) {
    if (!is_saved(command.plan))
        return 1;
    const JsonField plan =
        JsonField::parse(read_text(command.plan, JsonLimits{}.bytes), command.plan);
    std::int64_t tiles = 1;
    for (const char* const side : {"columns", "rows", "layers"}) {
        if (const auto field = plan.find(side))
            tiles *= field->integer(1, most_threads);
    }
    return static_cast<int>(std::min<std::int64_t>(tiles, most_threads));
}

/// Returns true if an option or a launcher sets the number of ranks.
bool states_ranks(const FilterCommand& command) {
    return command.ranks || command.filter.grid || detect_launcher().launcher != Launcher::none;
}

Effects effects_of(FilterCommand& command) {
    Effects effects = with_no_probe(sextant::effects_of(command.filter));
    effects.insert(effects.end(), {{{"distribute", "memory"},
                                    "the plan file specifies it",
                                    [&] { return !is_saved(command.plan); }},
                                   {{"machine", "no_probe", "distribute"},
                                    "nothing to plan for one rank: expected --ranks 2 or more",
                                    [&] {
                                        return states_ranks(command)
                                                   ? !is_one_rank(command.ranks,
                                                                  command.filter.grid)
                                                   : usual_ranks(command) > 1;
                                    }},
                                   effect_of_external({command.source.image}),
                                   effect_of_zarr(command.output)});
    return effects;
}

/// Returns the extension of a file of frames, which may have two parts, such as ".nii.gz".
std::string extension_of(const std::string& path) {
    std::size_t length = std::filesystem::path(path).extension().string().size();
    if (const format::FrameFormat* const format = format::find_frame_format(path)) {
        std::istringstream words{std::string(format->extensions)};
        for (std::string word; words >> word;) {
            if (format::has_extension(path, word))
                length = std::max(length, word.size());
        }
    }
    return path.substr(path.size() - length);
}

/// Runs `sextant filter` on one rank; rank 0 writes the planes, the page and the texts. All ranks
/// agree on the result of each phase, so that no output remains if any rank fails.
class FilterRun {
  public:
    FilterRun(const FilterCommand& command, const Communicator& communicator)
        : command_(command),
          communicator_(communicator),
          progress_(communicator.rank() == 0),
          filter_(command.filter) {}

    void run() {
        open_source();
        measure_pixel();
        std::optional<Filtering> filtering;
        agree(communicator_, [&] {
            FilterOptions options = filter_;
            summary_.filters = filters_of(options, dimensions_);
            saves_plan_ = !command_.plan.empty() && !is_saved(command_.plan);
            if (is_root() && is_saved(command_.plan))
                options.plan = read_plan(options);
            filtering.emplace(
                communicator_, std::move(options), summary_.filters,
                RunControl{[&](auto part, auto done, auto all) { progress_.say(part, done, all); }},
                dimensions_);
            if (is_root())
                create_outputs(*filtering);
        });
        summary_.result = filtering->run(
            source_.get(), [&](int derivative, Elements first, std::span<const float> rows) {
                write(derivative, first, rows);
                if (shown_ && derivative == 0)
                    shown_->add(first, rows);
                if (summary_.slices)
                    slice(derivative, first, rows);
            });
        if (is_root())
            warn({remark_on_lost_results(lost_, source_->path())});
        if (is_volume() && shows())
            slice_volume();
        JointCommit together;
        timed(summary_.result.write, [&] {
            agree(communicator_, [&] {
                if (sink_)
                    sink_->commit();
                for (const VolumeSink& volume : volumes_)
                    volume.sink->commit();
            });
        });
        agree(communicator_, [&] {
            if (is_root())
                report();
            together.commit();
        });
    }

  private:
    bool is_root() const { return communicator_.rank() == 0; }

    bool is_volume() const { return dimensions_ == kernel::Dimensions::three; }
    bool shows() const { return !command_.reports.report.empty(); }

    /// Opens the image or volume. Rank 0 must be able to read it; other ranks need not, except with
    /// --distribute read.
    void open_source() {
        try {
            source_ = open_image_or_volume(command_.source);
        } catch (const Error&) { // rethrown below if this rank needs the image
        }
        const Elements planes = communicator_.all_gather(source_ ? source_->planes() : 0)[0];
        agree(communicator_, [&] {
            if (!source_ && (planes == 0 || command_.filter.distribute == "read"))
                source_ = open_image_or_volume(command_.source);
        });
        dimensions_ = planes > 1 ? kernel::Dimensions::three : kernel::Dimensions::two;
    }

    /// Finds the pixel size in the unit of sigma, if sigma has a unit, from the header of rank 0's
    /// file.
    void measure_pixel() {
        if (filter_.unit.empty())
            return;
        FrameHeader stated;
        if (is_root()) {
            stated.pixel = source_->header().pixel;
            stated.slice_distance = source_->header().slice_distance;
        }
        const std::array<double, 3> sizes{stated.pixel.x, stated.pixel.y, stated.slice_distance};
        const auto [x, y, z] = communicator_.all_gather(sizes)[0];
        stated.pixel = {x, y, all_gather_texts(communicator_, stated.pixel.unit).front()};
        stated.slice_distance = z;
        agree(communicator_, [&] {
            filter_.unit = format::tidy_unit(filter_.unit);
            filter_.pixel = pixel_size_in(filter_.unit, stated, dimensions_, command_.source.image);
        });
    }

    distributed::FilterPlan read_plan(const FilterOptions& options) const {
        const std::string& path = command_.plan;
        distributed::FilterPlan plan =
            distributed::read_filter_plan(path, {.filters = summary_.filters,
                                                 .image = source_->shape(),
                                                 .element = source_->element(),
                                                 .ranks = communicator_.size(),
                                                 .depth = is_volume() ? source_->planes() : 0});
        const Tiles tiles = plan.configuration.tiles();
        if (options.grid && *options.grid != tiles)
            throw InvalidTask(
                fmt::format("grid {}: the plan {} has {} tiles; omit the grid or the plan",
                            options.grid->text(), path, tiles.text()));
        return plan;
    }

    /// Checks all files before filtering, and opens the output.
    void create_outputs(const Filtering& filtering) {
        summary_.image = command_.source.image;
        summary_.derivatives = filter_.derivatives;
        summary_.sigma = sextant::text_of(filter_.sigma);
        summary_.unit = filter_.unit;
        summary_.header = source_->header();
        summary_.output = command_.output;
        summary_.ranks = communicator_.size();
        summary_.threads = filter_.threads;
        summary_.transport = transport_of(communicator_);
        warn(source_->header().remarks);
        summary_.outputs = is_volume() ? outputs_of_volume() : std::vector{command_.output};
        std::vector<std::string> outputs =
            files_named({command_.reports.json, command_.reports.report});
        outputs.insert(outputs.begin(), summary_.outputs.begin(), summary_.outputs.end());
        std::vector<std::string> read =
            files_read(command_.source, command_.filter.machine, outputs);
        if (!command_.plan.empty())
            (saves_plan_ ? outputs : read).push_back(command_.plan);
        check_frames_name(summary_.output, Sample::f32);
        check_outputs(outputs, read);
        if (is_volume())
            return create_volumes(filtering);
        const std::vector<double> offsets = filtering.offsets(source_->offset());
        const bool has_offset =
            std::any_of(offsets.begin(), offsets.end(), [](double offset) { return offset != 0; });
        const double offset = has_offset ? source_->offset() : 0;
        warn({remark_on(offset, summary_.output)});
        const FrameHeader header{.frames = std::ssize(offsets),
                                 .shape = source_->shape(),
                                 .sample =
                                     computed_sample(summary_.output, source_->stored(), offset),
                                 .pixel = source_->header().pixel};
        warn({format::remark_on_lost_pixel(summary_.output, header)});
        for (const double each : offsets)
            added_.push_back(added_to(header, each, source_->scale()));
        sink_ = std::make_unique<PlaneSink>(
            format::create_frames(summary_.output, header, sink_options()), offsets,
            filtering.scales(source_->scale()));
        if (shows())
            shown_.emplace(source_->shape());
    }

    format::SinkOptions sink_options() const {
        return {.axis = format::StackAxis::slices, .zarr_version = command_.zarr};
    }

    /// Returns the offset to add to results before they are multiplied by the scale.
    float added_to(const FrameHeader& sink, double offset, double scale) const {
        return static_cast<float>(offset_added(sink.sample, source_->stored(), offset) / scale);
    }
    std::string remark_on(double offset, const std::string& path) const {
        return offset_remark(floats_hold_offset(source_->stored(), offset) ? 0 : offset, path);
    }

    /// Returns one file per derivative of a volume: "out.npy" for a single derivative, else
    /// "out_x.npy" ...
    std::vector<std::string> outputs_of_volume() const {
        const std::vector<std::string>& features = filter_.derivatives;
        if (features.size() == 1)
            return {command_.output};
        const std::string& path = command_.output; // the path of a folder may end in slashes
        const std::string file = path.substr(0, path.find_last_not_of('/') + 1);
        const std::string extension = extension_of(file);
        const std::string stem = file.substr(0, file.size() - extension.size());
        std::vector<std::string> outputs;
        for (const std::string& feature : features) {
            outputs.push_back(fmt::format("{}_{}{}", stem, feature, extension));
        }
        return outputs;
    }

    void create_volumes(const Filtering& filtering) {
        const std::vector<double> offsets = filtering.offsets(source_->offset());
        const std::vector<double> scales = filtering.scales(source_->scale());
        for (std::size_t k = 0; k < offsets.size(); ++k) {
            const std::string& path = summary_.outputs[k];
            warn({remark_on(offsets[k], path)});
            FrameHeader header = source_->header();
            header.sample = computed_sample(path, source_->stored(), offsets[k]);
            header.channels = 1;
            header.remarks = {};
            header.hyperstack = {};
            warn({format::remark_on_lost_pixel(path, header)});
            volumes_.push_back(
                {format::create_frames(path, header, sink_options()), offsets[k], scales[k]});
            added_.push_back(added_to(header, offsets[k], scales[k]));
        }
        if (!shows())
            return;
        const ImageShape plane = source_->shape();
        const std::array<Elements, 3> shape{source_->planes(), plane.height, plane.width};
        const SliceGrid grid({shape[0], shape[1], shape[2]}, centre_of(shape), shown_side());
        summary_.slices.emplace(grid);
        summary_.slices->derivatives.assign(volumes_.size(), VolumeSlices<float>(grid));
    }

    static std::array<Elements, 3> centre_of(const std::array<Elements, 3>& shape) {
        return {shape[0] / 2, shape[1] / 2, shape[2] / 2};
    }

    /// Returns the largest number of pixels per side of a slice; smaller for pages with many
    /// derivatives.
    Elements shown_side() const { return filter_.derivatives.size() > 3 ? 400 : 700; }

    /// Keeps the pixels of planes of a derivative that a page shows.
    void slice(int derivative, Elements first, std::span<const float> planes) {
        VolumeSlices<float>& slices =
            summary_.slices->derivatives[static_cast<std::size_t>(derivative)];
        const auto plane = static_cast<std::size_t>(source_->shape().elements());
        for (Elements z = first; !planes.empty(); planes = planes.subspan(plane), ++z) {
            if (slices.grid().wants(z))
                slices.add(z, 0, planes.first(plane));
        }
    }

    /// Reads the slices of the volume on all ranks that can read it.
    void slice_volume() {
        std::array<Elements, 3> shape{};
        if (source_)
            shape = {source_->planes(), source_->shape().height, source_->shape().width};
        const std::vector<std::array<Elements, 3>> shapes = communicator_.all_gather(shape);
        const bool reads = shape == shapes[0];
        const Communicator readers = communicator_.split(reads ? 0 : -1, communicator_.rank());
        std::optional<VolumeSlices<float>> slices;
        Seconds took = 0;
        timed(took, [&] {
            agree(communicator_, [&] {
                if (!reads)
                    return;
                const auto [depth, height, width] = shape;
                const SliceGrid grid({depth, height, width}, centre_of(shape), shown_side());
                const std::unique_ptr<FrameSource> volume = scaled_volume(
                    format::open_frames(command_.source.image, command_.source.options()));
                slices.emplace(slices_of(readers, *volume, grid));
            });
        });
        if (!is_root())
            return;
        summary_.slices->volume = std::move(slices);
        summary_.slices->reading = took;
    }

    /// Writes rows of a derivative of an image, or planes of a derivative of a volume.
    void write(int derivative, Elements first, std::span<const float> values) {
        values = sum_of(values, added_[static_cast<std::size_t>(derivative)], buffer_);
        if (sink_)
            return sink_->write(derivative, first, values);
        const VolumeSink& volume = volumes_[static_cast<std::size_t>(derivative)];
        const auto plane = static_cast<std::size_t>(source_->shape().elements());
        for (; !values.empty(); values = values.subspan(plane)) {
            const auto some = values.first(plane);
            if (volume.scale == 1 || source_->stored() != Sample::f32) {
                write_scaled(*volume.sink, some, volume.offset, volume.scale);
                continue;
            }
            std::vector<double> doubles(plane);
            std::vector<float> floats(plane);
            to_doubles(some, 0, volume.scale, doubles, volume.sink->path());
            lost_ += to_nearest_floats(doubles, floats);
            volume.sink->write(floats);
        }
    }

    void warn(const std::vector<std::string>& warnings) {
        for (const std::string& warning : warnings) {
            if (!warning.empty())
                summary_.warnings.push_back(warning);
        }
    }

    void report() {
        progress_.clear();
        warn(summary_.result.warnings);
        if (shown_)
            summary_.picture = shown_->png();
        if (saves_plan_)
            write_text(command_.plan, to_json(summary_.result.plan) + "\n");
        write_reports(command_.reports, summary_.warnings, to_json(summary_), to_text(summary_),
                      command_.reports.report.empty() ? "" : to_page(summary_));
    }

    const FilterCommand& command_;
    const Communicator& communicator_;
    Progress progress_;
    FilterOptions filter_; // includes the pixel size if sigma has a unit
    std::unique_ptr<RowSource> source_;
    kernel::Dimensions dimensions_ = kernel::Dimensions::two;
    std::unique_ptr<PlaneSink> sink_; // used for an image
    struct VolumeSink {
        std::unique_ptr<FrameSink> sink;
        double offset, scale;
    };
    std::vector<VolumeSink> volumes_; // used for a volume, one per derivative
    std::vector<float> added_;        // offsets added to the values of each derivative
    std::vector<float> buffer_;
    Elements lost_ = 0;             // number of results that f32 cannot represent
    std::optional<Overview> shown_; // overview of the first derivative
    FilterSummary summary_;
    bool saves_plan_ = false;
};

int run_filter(const FilterCommand& command, const Call& call) {
    const int cores = std::clamp(Cores::available().count(), 1, most_threads);
    const auto run = [&](const Communicator& communicator) {
        FilterCommand own = command;
        const int usual = communicator.size() == 1 ? cores : 1;
        own.filter.threads = static_cast<int>(command.threads.value_or(usual));
        naming_options(call.options, [&] { FilterRun(own, communicator).run(); });
    };
    if (states_ranks(command))
        launch_tiles(call, command.filter.grid, run);
    else
        launch_ranks(call, usual_ranks(command), run);
    return 0;
}

} // namespace

Operation filter_operation() {
    return declare_command<FilterCommand>(
        "filter", "smooth a grey image or volume, and compute its derivatives and features",
        "  sextant filter scan.tif -o derivatives.npy --sigma 3 --derivatives x,y,xx,xy,yy\n"
        "  mpirun -n 2 sextant filter volume.zarr -o out.zarr --sigma 4,2,2 "
        "--derivatives hessian-1",
        run_filter);
}

std::string text_of(const kernel::GaussianKernel& kernel) {
    using Weights = kernel::GaussianKernel::Weights;
    return kernel.weights == Weights::p3pc ? "p3pc"
           : kernel.weights == Weights::gaussian
               ? "gaussian"
               : fmt::format("gaussian, truncated at {} sigmas", kernel.truncation);
}

namespace {

/// Returns the text of a scale; with six digits per number if the scale differs between axes.
std::string shown(const kernel::Scales& sigma) {
    if (sigma == kernel::Scales(sigma.x))
        return sextant::text_of(sigma);
    const std::string in_plane = fmt::format("{:.6g},{:.6g}", sigma.y, sigma.x);
    return sigma.z < 0 ? in_plane : fmt::format("{:.6g},{}", sigma.z, in_plane);
}

} // namespace

std::string text_of(const distributed::Filters& filters) {
    std::string text;
    for (const distributed::Filter& filter : filters)
        text += fmt::format("{}{} at sigma {}", text.empty() ? "" : ", then ",
                            fmt::join(filter.features, ", "), shown(filter.sigma));
    const kernel::GaussianKernel& kernel = filters.back().kernel;
    return kernel == kernel::GaussianKernel{} ? text : text + ", kernel " + text_of(kernel);
}

} // namespace sextant::command
