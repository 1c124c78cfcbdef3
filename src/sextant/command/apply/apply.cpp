// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/array/frame_source.hpp"
#include "sextant/array/sample_offset.hpp"
#include "sextant/command/apply/apply_arrays.hpp"
#include "sextant/command/commands.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/command/series/aligned_stack.hpp"
#include "sextant/command/series/transforms.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/progress.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/registration/correct/bidirectional.hpp"
#include "sextant/registration/correct/corrected_frames.hpp"
#include "sextant/registration/transform/array_choices.hpp"
#include "sextant/registration/transform/combined.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::command {

namespace {

struct ApplyCommand {
    std::string transforms, output;
    /// Images or coordinates. For a single image, `frame` is the frame whose transform is applied.
    SourceChoice source;
    ImageChoice image;
    bool from_reference = false;
};

Record record_of(ApplyCommand& command) {
    Record record;
    record
        .add("transforms", command.transforms, "FILE",
             "transforms.json written by sextant register")
        .file()
        .positional()
        .required();
    Record source = record_of(
        command.source, "series with as many frames as were registered, or a .csv of frame,x,y");
    Field& data = source["image"];
    data.name = "data";
    data.value_name = "DATA";
    source["frame"].meaning = "DATA is a single frame; apply the transform of frame N to it";
    source["channel"].meaning = "channel, counted from 0; default: all channels";
    source["slice"].meaning = "slice, counted from 0; default: all slices";
    source["axes"].meaning =
        "names of the array's axes: a letter each (TYXE) or a list (T,Y,X,ky,kx)";
    record.include(std::move(source));
    declare_output(record, command.output, "OUT", "aligned frames, their sum, or points (.csv)");
    record.add("from_reference", command.from_reference,
               "map points from the average to the frames, instead of the reverse");
    record.include(record_of(command.image));
    return record;
}

bool is_table(const std::string& path) {
    return std::filesystem::path(path).extension() == ".csv";
}

Effects effects_of(ApplyCommand& command) {
    const std::string& data = command.source.image;
    const auto is_image = [&] { return !is_table(data); };
    return {
        {{"from_reference"},
         fmt::format("{} is not a table of coordinates (.csv)", data),
         [&] { return is_table(data); }},
        {{"frame"}, "a table of coordinates specifies the frame of each point", is_image},
        {{"channel", "slice"}, "a file of coordinates has no channels or slices", is_image},
        {{"by", "sum", "count", "sample", "memory", "pyramid", "axes", "time", "allow_external"},
         "a table of coordinates is not an image",
         is_image},
        {{"count"},
         "expected --sum, because it counts the frames summed in each pixel",
         [&] { return command.image.sum; }},
        effect_of_zarr(command.output),
        effect_of_external({data})};
}

using registration::Transform;

/// Returns the options with axes in the form that open_frames() expects: one letter per axis.
format::SourceOptions options_of_frames(const SourceChoice& source) {
    format::SourceOptions options = source.options();
    if (options.axes.find(',') != std::string::npos)
        options.axes =
            fmt::format("{}", fmt::join(format::parse_axis_names(source.image, options.axes), ""));
    return options;
}

/// Aligns the frames of a series of grey or colour images in f32; the results are then rounded to
/// the output's sample type.
std::string apply_to_series(const ApplyCommand& command, AppliedTransforms& transforms,
                            const AlignedArray& array) {
    const Sample sample = array.sample();
    const auto [source, offset] =
        less_offset(format::open_frames(command.source.image, options_of_frames(command.source)));
    print_remarks(*source);
    transforms.require_shape(source->path(), source->header().shape);
    std::vector<std::int64_t> frames{0};
    if (!command.source.frame)
        frames = transforms.frames_of(source->path(), source->header().frames);
    else if (source->header().frames != 1)
        throw InvalidTask(
            fmt::format("{} has {} frames, expected one frame because --frame is given",
                        source->path(), source->header().frames));
    FrameHeader header;
    header.frames = std::ssize(frames);
    const registration::PixelArea area = transforms.all().area();
    header.shape = area.shape;
    header.pixel = source->header().pixel;
    header.sample = offset != 0 ? computed_sample(command.output, Sample::f64, offset) : sample;
    if (offset != 0)
        print_warning(fmt::format("{}: {}", source->path(), offset_remark(offset, command.output)));
    header.frame_interval = frame_interval_of(source->header(), frames);
    header.slice_distance = array.slice_distance();
    const Bytes needed = header.shape.elements() * (Bytes{sizeof(float)} + size_of(header.sample));
    if (needed > command.image.memory)
        throw InvalidTask(fmt::format("memory {} is too small for an aligned frame of {}x{}, "
                                      "expected {} or more",
                                      text_of_memory(command.image.memory), header.shape.width,
                                      header.shape.height, text_of_memory(needed)));
    const format::SinkOptions options{.axis = array.has_slices() ? format::StackAxis::slices
                                                                 : format::StackAxis::time,
                                      .pyramid = command.image.pyramid,
                                      .zarr_version = command.image.zarr};
    print_warning(format::remark_on_lost_pixel(command.output, header, options));
    const std::unique_ptr<FrameSink> sink = format::create_frames(command.output, header, options);
    registration::ChangedFrames aligned(
        *source,
        registration::with_aligned_rows(transforms.all().row_shift, source->header().shape.width));
    registration::ChangedFrames without_flyback(
        aligned, registration::without_columns(transforms.flyback(), source->header().shape.width));
    Team team(threads_of_apply());
    registration::Resampler resampler(without_flyback, &team);
    std::vector<float> pixels(static_cast<std::size_t>(header.shape.elements()));
    std::vector<std::byte> samples(pixels.size() *
                                   static_cast<std::size_t>(size_of(header.sample)));
    Progress progress(true);
    std::int64_t done = 0;
    for (const std::int64_t frame : frames) {
        progress.say("apply", done++, header.frames);
        resampler.resample(frame, transforms.of(command.source.frame.value_or(frame)), area,
                           pixels);
        to_stack_samples(header.sample, offset, registration::usual_gap(header.sample), pixels,
                         samples);
        sink->write_samples(samples);
    }
    sink->commit();
    progress.clear();
    return fmt::format("{}: {} of {}x{} {}, {} outside the data\n", command.output,
                       report::counted(header.frames, "frame"), header.shape.width,
                       header.shape.height, name(header.sample),
                       std::isnan(registration::usual_gap(header.sample)) ? "NaN" : "0");
}

void apply_to_images(const ApplyCommand& command, AppliedTransforms& transforms) {
    AlignedArray array(command.source, command.image, transforms, command.output);
    print_text(array.is_plain_series() ? apply_to_series(command, transforms, array) : array.run());
}

void apply_to_coordinates(const ApplyCommand& command, AppliedTransforms& applied) {
    const std::string& path = command.source.image;
    std::vector<FramePoint> points = read_coordinates(path);
    std::optional<std::int64_t> frame;
    Transform transform;
    const registration::PixelArea area = applied.all().area();
    const ImageShape shape = applied.all().shape;
    const auto left = static_cast<double>(area.x), top = static_cast<double>(area.y);
    for (FramePoint& point : points) {
        try {
            if (frame != point.frame)
                transform = applied.of(point.frame);
            frame = point.frame;
            if (command.from_reference) {
                point.at = apply(transform, {point.at.x + left, point.at.y + top}, shape);
            } else {
                const registration::Point at = apply_inverse(transform, point.at, shape);
                point.at = {at.x - left, at.y - top};
            }
        } catch (const InvalidTask& error) {
            throw InvalidFile(path, fmt::format("line {}: {}", point.line, error.what()));
        }
    }
    write_text(command.output, to_csv(points));
    print_text(
        fmt::format("{}: {} in {}\n", command.output, report::counted(std::ssize(points), "point"),
                    command.from_reference ? "pixels of their frames" : "pixels of the average"));
}

int run_apply(const ApplyCommand& command, const Call&) {
    const std::string& path = command.source.image;
    const bool coordinates = is_table(path);
    const std::vector<std::string> outputs = files_named({command.output, command.image.count});
    if (!command.image.count.empty())
        check_frames_name(command.image.count, Sample::f32);
    if (coordinates && !is_table(outputs[0]))
        throw InvalidTask(fmt::format("{}: coordinates are written as .csv", outputs[0]));
    std::vector<std::string> read =
        coordinates ? std::vector{path} : files_read(command.source, "", outputs);
    read.push_back(command.transforms);
    check_outputs(outputs, read);
    AppliedTransforms applied(command.transforms);
    keep_inputs(applied.files(), outputs);
    if (coordinates)
        apply_to_coordinates(command, applied);
    else
        apply_to_images(command, applied);
    return 0;
}

} // namespace

constexpr std::string_view notes_of_apply =
    "Aligned frames cover the area of the average (register --canvas). Points are mapped from "
    "frames\n"
    "to the average, where each marks the same feature of the specimen. --by shift moves frames "
    "by\n"
    "whole pixels and keeps all bits; --by splat preserves the sum of counts. Samples outside the "
    "data\n"
    "are 0 or NaN. The default output type is the input's, except for --by splat and --sum: "
    "64-bit\n"
    "integers for sums of shifted integers; else f64 if the input is f64 or has integers of 32 or "
    "64\n"
    "bits; else f32.";

Operation apply_operation() {
    Operation operation = declare_command<ApplyCommand>(
        "apply", "apply the transforms of a registered series to other images or points",
        "  sextant apply out/transforms.json second-channel.mrc -o aligned.tif\n"
        "  sextant apply out/transforms.json particles.csv -o in-reference.csv\n"
        "  sextant apply out/transforms.json scan.zarr --axes T,Y,X,ky,kx --by splat -o "
        "aligned.zarr",
        run_apply, RunOn::one_rank);
    operation.notes = notes_of_apply;
    return operation;
}

} // namespace sextant::command
