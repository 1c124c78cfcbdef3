// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/apply/apply_arrays.hpp"

#include "sextant/array/sample_offset.hpp"
#include "sextant/comm/waiting.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/command/series/aligned_stack.hpp"
#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/progress.hpp"
#include "sextant/core/text.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/registration/transform/array_choices.hpp"
#include "sextant/registration/transform/sample_strips.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace sextant::command {

using registration::AlignBy;

Record record_of(ImageChoice& choice) {
    Record record;
    record.add("by", choice.by, registration::align_by_names(), "NAME", "resampling method");
    record.add("sum", choice.sum, "add up the aligned frames instead of writing them");
    record
        .add("count", choice.count, "FILE",
             "with --sum: write the number of frames summed in each pixel")
        .file();
    record.add("sample", choice.sample, "TYPE", "output type")
        .one_of({"u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f16", "f32", "f64"});
    record.add_memory("memory", choice.memory, "memory limit; larger data are processed in blocks");
    record.add("pyramid", choice.pyramid,
               "OME-Zarr: also write successively halved resolutions, for viewers");
    declare_zarr(record, choice.zarr);
    return record;
}

int threads_of_apply() {
    return std::clamp(Cores::available().count(), 1, 64);
}

AlignedArray::AlignedArray(const SourceChoice& source, const ImageChoice& choice,
                           AppliedTransforms& transforms, const std::string& output)
    : source_(source), choice_(choice), transforms_(transforms), output_(output) {
    array_ = format::open_array(source.image, source.options(), choice.memory / 4);
    choose_axes();
    transforms.require_shape(array_->path(), {array_->header().lengths[axes_.column],
                                              array_->header().lengths[axes_.row]});
    const std::int64_t count = axes_.frame ? array_->header().lengths[*axes_.frame] : 1;
    if (source.frame) {
        frames_ = {{0, *source.frame}};
    } else if (!several_axes_unnamed_) {
        for (const std::int64_t frame : transforms.frames_of(array_->path(), count))
            frames_.push_back({frame, frame});
    }
    options_.by = choice.by;
    options_.sum = choice.sum;
    options_.area = transforms.all().area();
    options_.flyback = transforms.flyback();
    options_.memory = choice.memory / 2;
    choose_sample();
}

/// Finds the axes of frames, rows and columns. Fixes channel, slice and time if requested.
void AlignedArray::choose_axes() {
    const ArrayHeader& header = array_->header();
    const std::size_t count = header.lengths.size();
    if (header.names.empty() && count > 3 && !source_.frame) {
        // All axes except the last two together count the frames.
        std::int64_t planes = 1;
        for (std::size_t axis = 0; axis + 2 < count; ++axis)
            planes *= header.lengths[axis];
        if (planes == std::ssize(transforms_.all().frames)) {
            several_axes_unnamed_ = true;
            axes_ = {std::nullopt, count - 2, count - 1};
            return;
        }
    }
    auto found =
        registration::choose_axes(std::move(array_), {source_.channel, source_.slice, source_.time,
                                                      source_.frame.has_value()});
    array_ = std::move(found.array);
    axes_ = found.axes;
}

void AlignedArray::choose_sample() {
    if (!choice_.sample.empty())
        sample_ = *sample_named(choice_.sample);
    else
        sample_ =
            sample_in_file(output_, registration::usual_sample(array_->header().sample, options_));
    check_frames_name(output_, sample_);
    options_.gap = registration::usual_gap(sample_, options_);
}

/// Returns the offset that must be subtracted from samples whose differences f32 cannot represent,
/// such as values near 10⁹. Returns 0 if f32 can represent the differences, or if the output is not
/// f32.
double AlignedArray::lost_offset() const {
    const Sample from = array_->header().sample;
    if (sample_ != Sample::f32 || size_of(from) < 4 || from == sample_)
        return 0;
    format::SourceOptions planes = source_.options();
    planes.every_plane = true;
    planes.axes.clear();
    return less_offset(format::open_frames(source_.image, planes)).offset;
}

/// Throws InvalidFile if the samples need an offset (lost_offset()). Interpolated series subtract
/// the offset first, but sums and shifts cannot.
void AlignedArray::require_resolution() const {
    if (const double offset = lost_offset(); offset != 0)
        throw InvalidFile(
            array_->path(),
            fmt::format("has samples near {:.6g}, whose differences f32 cannot represent, expected "
                        "an output with samples of {}, such as .npy",
                        offset,
                        name(registration::usual_sample(array_->header().sample, options_))));
}

bool AlignedArray::is_plain_series() const {
    if (several_axes_unnamed_)
        return true;
    const ArrayHeader& header = array_->header();
    const Bytes from = size_of(header.sample), to = size_of(sample_);
    // Series are interpolated in f32. Samples beyond the range of the output are counted by run().
    const bool is_float = name(sample_).front() == 'f';
    const bool held = header.sample == sample_ || from == 1 || (from == 2 && to == 4);
    const bool holds_range =
        header.sample == sample_ || registration::has_range_of(sample_, header.sample);
    const auto is_letter = [](const std::string& name) {
        return name.size() == 1 && format::are_plane_axes(name);
    };
    if (axes_.column + 1 != header.lengths.size() || !std::ranges::all_of(header.names, is_letter))
        return false;
    for (std::size_t axis = 0; axis < header.lengths.size(); ++axis) {
        if (axis != axes_.frame && axis != axes_.row && axis != axes_.column &&
            header.lengths[axis] > 1)
            return false;
    }
    if (header.channels > 1 || choice_.by != AlignBy::bilinear || choice_.sum)
        return header.channels > 1;
    return is_float ? to <= 4 && (held || lost_offset() != 0) : to < 4 && holds_range;
}

bool AlignedArray::has_slices() const {
    const std::vector<std::string>& names = array_->header().names;
    return axes_.frame && !names.empty() && names[*axes_.frame] == "z";
}

ArrayHeader AlignedArray::header_of_result() const {
    const ArrayHeader& from = array_->header();
    ArrayHeader header;
    header.lengths = registration::aligned_lengths(from, axes_, std::ssize(frames_), options_);
    header.names = from.names;
    if (axes_.frame && options_.sum && !header.names.empty())
        header.names.erase(header.names.begin() + static_cast<std::ptrdiff_t>(*axes_.frame));
    header.sample = sample_;
    header.chunk = registration::aligned_chunks(from, axes_, header.lengths, sample_, options_);
    if (!options_.sum && options_.by != AlignBy::splat && sample_ == from.sample)
        header.fill = from.fill;
    header.pixel = from.pixel;
    header.slice_distance = slice_distance();
    FrameHeader series;
    series.frame_interval = from.frame_interval;
    header.frame_interval = frame_interval_of(series, positions());
    return header;
}

std::vector<std::int64_t> AlignedArray::positions() const {
    std::vector<std::int64_t> numbers;
    for (const registration::MovedFrame& frame : frames_)
        numbers.push_back(frame.position);
    return numbers;
}

double AlignedArray::slice_distance() const {
    const double distance = array_->header().slice_distance;
    if (!has_slices())
        return distance;
    FrameHeader slices;
    slices.frame_interval = distance; // as for times: unknown if slices in between are left out
    return frame_interval_of(slices, positions());
}

std::string AlignedArray::run() {
    if (transforms_.all().row_shift != 0)
        throw InvalidTask(
            fmt::format("{}: the rows of a bidirectional scan are not aligned in "
                        "arrays; expected a series of images, interpolated bilinearly",
                        array_->path()));
    if (array_->header().channels > 1)
        throw InvalidFile(array_->path(),
                          "has colours, which only --by bilinear without --sum supports");
    if (several_axes_unnamed_)
        throw InvalidFile(
            array_->path(),
            fmt::format("has {} axes without names, expected --axes, such as --axes {}",
                        array_->header().lengths.size(),
                        registration::example_of_axes(array_->header().lengths.size())));
    for (const std::string& remark : array_->header().remarks)
        print_warning(fmt::format("{}: {}", array_->path(), remark));
    if (options_.sum && !axes_.frame)
        throw InvalidTask(
            fmt::format("--sum: {} has a single frame, expected a series", array_->path()));
    require_resolution();
    print_warning(format::remark_on_lost_pixel(output_, header_of_result()));
    const std::unique_ptr<ArraySink> sink = format::create_array(
        output_, header_of_result(), {.pyramid = choice_.pyramid, .zarr_version = choice_.zarr});
    Team team(threads_of_apply());
    Progress progress(true);
    RunControl control;
    control.progress = [&](std::string_view part, std::int64_t done, std::int64_t all) {
        progress.say(part, done, all);
    };
    const registration::AlignResult result = registration::align_array(
        *array_, axes_, frames_, [&](std::int64_t frame) { return transforms_.of(frame); }, *sink,
        options_, &team, control);
    std::unique_ptr<FrameSink> counts;
    if (!choice_.count.empty()) {
        FrameHeader header;
        header.frames = 1;
        header.shape = options_.area.shape;
        header.pixel = array_->header().pixel;
        counts = format::create_frames(choice_.count, header);
        counts->write(result.count);
    }
    JointCommit together;
    sink->commit();
    if (counts)
        counts->commit();
    together.commit();
    progress.clear();
    std::string text =
        fmt::format("{}: {}, {}", output_, registration::axes_text(sink->header()), name(sample_));
    if (options_.sum)
        text += fmt::format(", the sum of {}", report::counted(std::ssize(frames_), "frame"));
    if (options_.by == AlignBy::splat)
        text += fmt::format("; of a total of {:.9g}, {:.6g} ({:.3g} %) fell outside", result.total,
                            result.outside,
                            result.total != 0 ? 100 * result.outside / result.total : 0.);
    else if (!options_.sum)
        text += fmt::format(", {} outside the data", std::isnan(options_.gap) ? "NaN" : "0");
    if (constexpr double whole = .71; result.farthest > whole)
        print_warning(
            fmt::format("{}: the motions are not shifts: whole-pixel shifts misplace pixels by up "
                        "to {:.2f} pixels; --by splat or bilinear follows rotation and distortion",
                        array_->path(), result.farthest));
    if (const std::string rounded =
            registration::remark_on_rounding(result, array_->header().sample, sample_, options_);
        !rounded.empty())
        print_warning(fmt::format("{}: {}", output_, rounded));
    if (result.vanished > 0)
        print_warning(
            fmt::format("{}: {} nonzero samples are too small for {} and are written as 0", output_,
                        result.vanished, name(sample_)));
    return text + "\n";
}

} // namespace sextant::command
