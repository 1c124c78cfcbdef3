// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/label_volume.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/provenance.hpp"
#include "sextant/command/label_volume_report.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/command/volume_files.hpp"
#include "sextant/core/progress.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/report/text.hpp"

#include <array>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace sextant::command {

namespace {

std::string shape_of(const kernel::VolumeShape& shape) {
    return fmt::format("{}x{}x{}", shape.depth, shape.height, shape.width);
}

/// A run of the command on one rank.
class LabelVolumeRun {
  public:
    LabelVolumeRun(const VolumeLabelCommand& command, const Communicator& communicator)
        : command_(command), communicator_(communicator), progress_(communicator.rank() == 0) {}

    void run();

  private:
    bool is_root() const { return communicator_.rank() == 0; }
    bool shows() const { return !command_.reports.report.empty(); }
    void open_files();
    void finish();
    [[noreturn]] void explain(const AgreedFailure& failure) const;
    std::string text() const;
    std::string json() const;
    std::string page() const;

    const VolumeLabelCommand& command_;
    const Communicator& communicator_;
    Progress progress_;
    std::unique_ptr<FrameSource> volume_, intensity_;
    std::optional<VolumeLabelFiles> files_;
    std::vector<std::string> remarks_;
    VolumeLabelResult result_;
};

void LabelVolumeRun::open_files() {
    remarks_ = volume_->header().remarks;
    if (intensity_ && command_.intensity.file != command_.source.image) {
        for (std::string& remark : command_.intensity.remarks(*intensity_))
            remarks_.push_back(std::move(remark));
    }
    files_.emplace(communicator_, command_, *volume_, intensity_.get());
    if (!is_root())
        return;
    const auto outputs = files_named(
        {command_.output, command_.table, command_.reports.json, command_.reports.report});
    check_frames_name(command_.output, Sample::u32);
    FrameHeader labels = volume_->header();
    labels.sample = Sample::u32;
    if (std::string lost = format::remark_on_lost_pixel(command_.output, labels); !lost.empty())
        remarks_.push_back(std::move(lost));
    std::vector<std::string> inputs = files_read(command_.source, "", outputs);
    for (const std::string& file : command_.intensity.files(command_.source, outputs))
        inputs.push_back(file);
    keep_inputs(inputs, outputs);
    check_outputs(outputs);
    files_->hold_folder();
}

void LabelVolumeRun::finish() {
    progress_.clear();
    write_reports(command_.reports, remarks_, json(), text(), shows() ? page() : "");
    files_->remove_folder();
}

std::string LabelVolumeRun::text() const {
    std::string removed;
    if (command_.label.fill_holes)
        removed = fmt::format(", {} filled", report::counted(result_.holes, "hole"));
    if (result_.removed > 0)
        removed += fmt::format(", {} removed", report::counted(result_.removed, "component"));
    std::string slabs, predicted_read, predicted_label;
    if (result_.slabs > 1) {
        slabs = fmt::format(", in {} slabs of {}: {}", result_.slabs,
                            report::counted(result_.slab_planes, "plane"), result_.reason);
        predicted_read = fmt::format(" (predicted {:.1f})", result_.predicted_read * 1e3);
        predicted_label = fmt::format(" (predicted {:.1f})", result_.predicted_label * 1e3);
    }
    const char* const bits = result_.label_bits == 64 ? ", with labels of 64 bits" : "";
    return fmt::format("{}: {} of {} voxels{}{}, on {} of {}{}\n"
                       "read {:.1f} ms{}  label {:.1f} ms{}  write {:.1f} ms\n",
                       command_.output, report::counted(result_.components, "component"),
                       shape_of(result_.shape), removed, bits,
                       report::counted(communicator_.size(), "rank"), transport_of(communicator_),
                       slabs, result_.read * 1e3, predicted_read, result_.label * 1e3,
                       predicted_label, result_.write * 1e3);
}

std::string LabelVolumeRun::json() const {
    VolumeLabelOptions options = command_.label;
    Record record = {{"operation", "label"},           {"version", version()},
                     {"image", command_.source.image}, {"output", command_.output},
                     {"depth", result_.shape.depth},   {"height", result_.shape.height},
                     {"width", result_.shape.width},   {"element", name(volume_->header().sample)},
                     {"options", record_of(options)}};
    record.include(record_of(result_))
        .include({{"ranks", communicator_.size()}, {"transport", transport_of(communicator_)}})
        .include(provenance_of_run(remarks_));
    return to_json(record);
}

std::string LabelVolumeRun::page() const {
    return to_page({command_, result_, files_->sizes(), volume_->header(), *files_->slices(),
                    remarks_, communicator_.size(), transport_of(communicator_)});
}

/// Throws the failure of a file, such as a full disk, with how to continue. Collective.
void LabelVolumeRun::explain(const AgreedFailure& failure) const {
    const int kept = is_root() && files_->keeps_results() ? 1 : 0;
    if (failure.fault() != AgreedFailure::Fault::file || communicator_.all_gather(kept)[0] == 0)
        throw AgreedFailure(failure.what(), failure.fault());
    if (is_root())
        files_->mark_failed();
    throw AgreedFailure(fmt::format("{}; results so far are kept in {}: the same command continues "
                                    "from them",
                                    failure.what(), files_->folder()),
                        failure.fault());
}

void LabelVolumeRun::run() {
    std::optional<VolumeLabelling> labelling;
    VolumeLabelOptions options = command_.label;
    volume_ = open_on_ranks(communicator_, [&](const ScratchPlace& copy) {
        return format::open_frames(command_.source.image, command_.source.options(copy));
    });
    const bool same_file = command_.intensity.file == command_.source.image;
    intensity_ = open_on_ranks(communicator_, [&](const ScratchPlace& copy) {
        return command_.intensity.open(command_.source, same_file ? volume_->share() : copy);
    });
    agree(communicator_, [&] { open_files(); });
    if (files_->identify())
        remarks_.push_back(fmt::format("{}: results of a run with other inputs that failed were "
                                       "removed",
                                       files_->folder()));
    agree(communicator_, [&] {
        options.checkpoint = files_->folder();
        options.identity = files_->identity();
        labelling.emplace(communicator_, options,
                          RunControl{[&](std::string_view part, Elements done, Elements all) {
                              progress_.say(fmt::format("{} {} %", part, 100 * done / all));
                          }});
    });
    try {
        naming_options(record_of(options),
                       [&] { result_ = labelling->run(*volume_, intensity_.get(), *files_); });
        files_->commit();
    } catch (const AgreedFailure& failure) {
        explain(failure);
    }
    agree(communicator_, [&] {
        if (result_.resumed > 0)
            remarks_.push_back(
                fmt::format("continued an earlier run: {} of {} slabs were labelled, {} planes "
                            "written",
                            result_.resumed, result_.slabs, files_->stored()));
        if (result_.nan > 0)
            remarks_.push_back(fmt::format("{} voxels are NaN: background", result_.nan));
        if (std::string remark = remark_on_sums(files_->sums_beyond()); !remark.empty())
            remarks_.push_back(std::move(remark));
        if (is_root())
            finish();
    });
}

} // namespace

namespace {

bool is_integer(Sample sample) {
    return sample != Sample::f16 && sample != Sample::f32 && sample != Sample::f64;
}

} // namespace

std::string body_columns(bool has_intensity) {
    std::string text = "label,voxels,z,y,x,depth,height,width,centroid_z,centroid_y,centroid_x,"
                       "axis_1,axis_2,axis_3,axis_1_z,axis_1_y,axis_1_x,faces,at_border";
    return text + (has_intensity ? ",sum,mean,minimum,maximum\n" : "\n");
}

std::string body_row(const std::string& label, const kernel::Body& body,
                     std::optional<Sample> intensity) {
    const std::array<double, 3> centroid = body.centroid();
    const kernel::BodyAxes axes = kernel::axes_of(body);
    const auto side = [&](std::size_t axis) { return body.high[axis] - body.low[axis] + 1; };
    std::string text = fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}", label, body.voxels, body.low[0],
        body.low[1], body.low[2], side(0), side(1), side(2), centroid[0], centroid[1], centroid[2],
        axes.deviations[0], axes.deviations[1], axes.deviations[2], axes.directions[0][0],
        axes.directions[0][1], axes.directions[0][2], body.faces(), body.at_border ? 1 : 0);
    if (intensity && is_integer(*intensity))
        text += fmt::format(",{},{},{},{}", body.integer_sum(), body.intensity_mean(),
                            body.integer_minimum(), body.integer_maximum());
    else if (intensity)
        text += fmt::format(",{},{},{},{}", body.intensity_sum(), body.intensity_mean(),
                            body.minimum(), body.maximum());
    return text + "\n";
}

std::string remark_on_sums(Elements beyond) {
    return beyond == 0 ? ""
                       : fmt::format("{} of intensities {} beyond the range of f64: infinite",
                                     report::counted(beyond, "sum"), beyond == 1 ? "is" : "are");
}

bool is_volume(const SourceChoice& source) {
    return !source.frame &&
           format::open_frames(source.image, source.options())->header().frames > 1;
}

std::vector<std::string> IntensityChoice::files(const SourceChoice& labelled,
                                                std::span<const std::string> outputs) const {
    if (!*this)
        return {};
    format::SourceOptions options;
    options.allow_external = labelled.allow_external;
    return files_of_series(file, options, outputs);
}

std::unique_ptr<FrameSource> IntensityChoice::open(const SourceChoice& labelled,
                                                   const ScratchPlace& copy) const {
    if (!*this)
        return nullptr;
    format::SourceOptions options;
    options.allow_external = labelled.allow_external;
    options.copy = copy;
    if (file == labelled.image) {
        options = labelled.options(copy);
        options.channel = channel ? channel : options.channel;
        return format::open_frames(file, options);
    }
    auto source = format::open_frames(file, options);
    const FrameHeader& header = source->header();
    const bool has_times = header.hyperstack.slices > 1;
    const bool has_axes = !labelled.axes.empty() && header.axes.names.empty() &&
                          header.axes.lengths.size() == labelled.axes.size();
    if (!channel && !(labelled.time && has_times) && !has_axes)
        return source;
    options.channel = channel;
    if (has_times || has_axes)
        options.time = labelled.time;
    if (has_axes) {
        options.axes = labelled.axes;
        options.slice = labelled.slice;
    }
    return format::open_frames(file, options);
}

std::vector<std::string> IntensityChoice::remarks(const FrameSource& opened) const {
    std::vector<std::string> remarks;
    for (std::string remark : opened.header().remarks) {
        if (const std::size_t option = remark.find("--channel"); option != std::string::npos)
            remark.replace(option, 2, "--intensity-");
        remarks.push_back(fmt::format("--intensity {}: {}", file, remark));
    }
    return remarks;
}

Record record_of(IntensityChoice& intensity, std::string_view meaning) {
    Record record;
    record.add("intensity", intensity.file, "FILE", meaning).file();
    constexpr double most = 1e15;
    record
        .add("intensity_channel", intensity.channel, "N",
             "its channel, from 0; default: the first, or --channel if FILE is IMAGE")
        .between(0, most);
    return record;
}

Effects effects_of(const IntensityChoice& intensity) {
    return {{{"intensity_channel"}, "expected --intensity", [&] { return bool(intensity); }}};
}

void label_volume(const VolumeLabelCommand& command, const Communicator& communicator) {
    LabelVolumeRun(command, communicator).run();
}

} // namespace sextant::command
