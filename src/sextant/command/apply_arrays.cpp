// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/apply_arrays.hpp"

#include "sextant/command/aligned_stack.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/progress.hpp"
#include "sextant/core/text.hpp"
#include "sextant/format/array_catalogue.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::command {

using registration::AlignBy;

Record record_of(ImageChoice& choice) {
    Record record;
    record.add("by", choice.by,
               std::vector<Named<AlignBy>>{{"bilinear", AlignBy::bilinear},
                                           {"cubic", AlignBy::cubic},
                                           {"lanczos", AlignBy::lanczos},
                                           {"shift", AlignBy::shift},
                                           {"splat", AlignBy::splat}},
               "NAME", "how samples move");
    record.add("sum", choice.sum, "add up the aligned frames instead of writing them");
    record.add("count", choice.count, "FILE", "with --sum: write the number of frames per pixel")
        .file();
    record.add("sample", choice.sample, "TYPE", "type of samples")
        .one_of({"u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f16", "f32", "f64"});
    record.add_memory("memory", choice.memory, "memory limit for blocks of the data");
    record.add("pyramid", choice.pyramid,
               "OME-Zarr: also write levels of half the resolution, for viewers");
    return record;
}

namespace {

/// An array of which some axes are read at one position only, and then have no axis.
class FixedPositions final : public ArraySource {
  public:
    FixedPositions(std::unique_ptr<ArraySource> array,
                   std::vector<std::optional<std::int64_t>> fixed)
        : ArraySource(array->path(), remaining(array->header(), fixed)),
          array_(std::move(array)),
          fixed_(std::move(fixed)) {}

  private:
    static ArrayHeader remaining(ArrayHeader header,
                                 const std::vector<std::optional<std::int64_t>>& fixed) {
        for (std::size_t axis = fixed.size(); axis-- > 0;) {
            if (!fixed[axis])
                continue;
            const auto at = static_cast<std::ptrdiff_t>(axis);
            header.lengths.erase(header.lengths.begin() + at);
            header.chunk.erase(header.chunk.begin() + at);
            if (!header.names.empty())
                header.names.erase(header.names.begin() + at);
        }
        return header;
    }

    ArrayBlock whole_block(const ArrayBlock& block) const {
        ArrayBlock whole;
        for (std::size_t axis = 0, next = 0; axis < fixed_.size(); ++axis) {
            whole.start.push_back(fixed_[axis] ? *fixed_[axis] : block.start[next]);
            whole.count.push_back(fixed_[axis] ? 1 : block.count[next]);
            next += fixed_[axis] ? 0 : 1;
        }
        return whole;
    }

    void load(const ArrayBlock& block, std::span<std::byte> to) override {
        array_->read(whole_block(block), to);
    }
    bool lacks(const ArrayBlock& block) override { return array_->is_fill(whole_block(block)); }

    std::unique_ptr<ArraySource> array_;
    std::vector<std::optional<std::int64_t>> fixed_;
};

bool is_whole_number(Sample sample) {
    return name(sample).front() != 'f';
}

std::string axes_text(const ArrayHeader& header) {
    std::string text;
    for (std::size_t axis = 0; axis < header.lengths.size(); ++axis)
        text += fmt::format("{}{} {}", text.empty() ? "" : " × ", header.axis_name(axis),
                            header.lengths[axis]);
    return text;
}

/// An example of names for the axes of an array.
std::string example_of_axes(std::size_t axes) {
    return axes == 4 ? "TYXE" : axes == 5 ? "T,Y,X,ky,kx" : "T,C,Z,Y,X,E";
}

} // namespace

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

/// Finds frames, rows and columns, and fixes channel, slice and time if they are requested.
void AlignedArray::choose_axes() {
    const ArrayHeader& header = array_->header();
    const std::size_t count = header.lengths.size();
    std::vector<std::string> names = header.names;
    if (names.empty() && count <= 3) {
        names = count == 2 ? std::vector<std::string>{"y", "x"}
                           : std::vector<std::string>{"t", "y", "x"};
    }
    std::vector<std::optional<std::int64_t>> fixed(count);
    const auto refuse = [&](const std::string& expected) {
        throw InvalidFile(array_->path(),
                          fmt::format("has the axes {}, expected {}",
                                      names.empty()
                                          ? fmt::format("{}", fmt::join(header.lengths, "×"))
                                          : axes_text(header),
                                      expected));
    };
    if (count < 2)
        refuse("rows and columns");
    if (names.empty()) {
        // As a series, whose frames are on several axes.
        several_axes_unnamed_ = true;
        std::int64_t planes = 1;
        for (std::size_t axis = 0; axis + 2 < count; ++axis)
            planes *= header.lengths[axis];
        if (planes != std::ssize(transforms_.all().frames) || source_.frame)
            refuse(fmt::format("names for them, such as --axes {}, in which T are frames, Y rows "
                               "and X columns",
                               example_of_axes(count)));
        axes_ = {std::nullopt, count - 2, count - 1};
        return;
    }
    const auto find = [&](std::string_view name) -> std::optional<std::size_t> {
        const auto at = std::find(names.begin(), names.end(), name);
        return at == names.end() ? std::nullopt
                                 : std::optional(static_cast<std::size_t>(at - names.begin()));
    };
    const auto row = find("y"), column = find("x"), time = find("t"), slice = find("z");
    if (!row || !column || *column != *row + 1)
        refuse("y (rows) and x (columns) one after the other: name them by --axes");
    if (time && *time > *row)
        refuse("t (frames) before y and x");
    const auto length = [&](const std::optional<std::size_t>& axis) {
        return axis ? header.lengths[*axis] : 1;
    };
    const auto fix = [&](const std::optional<std::size_t>& axis,
                         const std::optional<std::int64_t>& position, std::string_view what) {
        if (!position)
            return;
        if (*position >= length(axis))
            throw InvalidFile(array_->path(),
                              fmt::format("has no {0} {1}, expected {0} {2}", what, *position,
                                          length(axis) == 1
                                              ? std::string("0")
                                              : fmt::format("0 to {}", length(axis) - 1)));
        if (axis)
            fixed[*axis] = position;
    };
    fix(find("c"), source_.channel, "channel");
    fix(slice, source_.slice, "slice");
    fix(time, source_.time, "time");
    // As in other commands, slices are the frames if there is a single time or one is requested.
    std::optional<std::size_t> frame = time;
    if (source_.frame) {
        frame = std::nullopt;
        if (length(time) > 1)
            throw InvalidTask(
                fmt::format("{} has {} frames, expected one frame because --frame is given",
                            array_->path(), length(time)));
        if (time)
            fixed[*time] = 0;
    } else if (source_.time || (length(time) == 1 && length(slice) > 1 && !source_.slice)) {
        frame = slice;
        if (time)
            fixed[*time] = source_.time.value_or(0);
    }
    if (frame && fixed[*frame])
        frame = std::nullopt;
    if (frame && *frame > *row)
        refuse("z (frames) before y and x");
    const auto now = [&](std::size_t axis) {
        return axis - static_cast<std::size_t>(std::count_if(
                          fixed.begin(), fixed.begin() + static_cast<std::ptrdiff_t>(axis),
                          [](const auto& each) { return each.has_value(); }));
    };
    axes_ = {frame ? std::optional(now(*frame)) : std::nullopt, now(*row), now(*column)};
    if (std::ranges::any_of(fixed, [](const auto& each) { return each.has_value(); }))
        array_ = std::make_unique<FixedPositions>(std::move(array_), std::move(fixed));
}

void AlignedArray::choose_sample() {
    const Sample data = array_->header().sample;
    if (!choice_.sample.empty()) {
        sample_ = *sample_named(choice_.sample);
    } else if (choice_.sum && choice_.by == AlignBy::shift && is_whole_number(data)) {
        const Sample wide = name(data).front() == 'u' ? Sample::u64 : Sample::i64;
        sample_ = can_write_frames(output_, wide) ? wide : Sample::f32;
    } else if (choice_.sum || choice_.by == AlignBy::splat) {
        sample_ = data == Sample::f64 ? sample_in_file(output_, Sample::f64) : Sample::f32;
    } else {
        sample_ = sample_in_file(output_, data);
    }
    check_frames_name(output_, sample_);
    options_.gap = choice_.by == AlignBy::splat || choice_.sum ? 0 : usual_gap(sample_);
}

bool AlignedArray::is_plain_series() const {
    if (several_axes_unnamed_)
        return true;
    const bool exact = size_of(sample_) < 4 || sample_ == Sample::f32;
    const ArrayHeader& header = array_->header();
    for (std::size_t axis = 0; axis < header.lengths.size(); ++axis) {
        if (axis != axes_.frame && axis != axes_.row && axis != axes_.column &&
            header.lengths[axis] > 1)
            return false;
    }
    return header.colours || (exact && choice_.by == AlignBy::bilinear && !choice_.sum);
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
    header.slice_distance = from.slice_distance;
    FrameHeader series;
    series.frame_interval = from.frame_interval;
    std::vector<std::int64_t> numbers;
    for (const registration::MovedFrame& frame : frames_)
        numbers.push_back(frame.position);
    header.frame_interval = frame_interval_of(series, numbers);
    return header;
}

std::string AlignedArray::run() {
    if (array_->header().colours)
        throw InvalidFile(array_->path(), "has colours, which are only interpolated bilinearly");
    if (several_axes_unnamed_)
        throw InvalidFile(
            array_->path(),
            fmt::format("has {} axes without names, expected --axes, such as --axes {}",
                        array_->header().lengths.size(),
                        example_of_axes(array_->header().lengths.size())));
    for (const std::string& remark : array_->header().remarks)
        print_warnings(std::array{fmt::format("{}: {}", array_->path(), remark)});
    if (options_.sum && !axes_.frame)
        throw InvalidTask(fmt::format("--sum: {} has a single frame", array_->path()));
    format::SinkOptions sink_options;
    sink_options.pyramid = choice_.pyramid;
    const std::unique_ptr<ArraySink> sink =
        format::create_array(output_, header_of_result(), sink_options);
    Team team(static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, 64U)));
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
    sink->commit();
    if (counts)
        counts->commit();
    progress.clear();
    std::string text = fmt::format("{}: {}, {}", output_, axes_text(sink->header()), name(sample_));
    if (options_.sum)
        text += fmt::format(", the sum of {}", report::counted(std::ssize(frames_), "frame"));
    if (options_.by == AlignBy::splat)
        text += fmt::format("; of a total of {:.9g}, {:.6g} ({:.3g} %) fell outside", result.total,
                            result.outside,
                            result.total != 0 ? 100 * result.outside / result.total : 0.);
    else if (!options_.sum)
        text += fmt::format(", {} outside the data", std::isnan(options_.gap) ? "NaN" : "0");
    if (constexpr double whole = .71; result.farthest > whole)
        print_warnings(std::array{
            fmt::format("{}: the motions are not shifts: pixels are up to {:.2f} pixels from their "
                        "positions; --by splat or bilinear follows rotation and distortion",
                        array_->path(), result.farthest)});
    return text + "\n";
}

} // namespace sextant::command
