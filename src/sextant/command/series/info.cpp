// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/array/array_source.hpp"
#include "sextant/array/frame_source.hpp"
#include "sextant/command/commands.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/text.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/format/frame_axes.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::command {

namespace {

struct InfoCommand {
    SourceChoice source;
    bool check = false;
    std::string json;
};

Record record_of(InfoCommand& command) {
    Record record = record_of(command.source, "a file, folder, pattern or list of frames");
    record["image"].value_name = "FILE";
    record.without("frame");
    record.add("check", command.check, "read every frame; exit code 1 if one cannot be read");
    declare_json(record, command.json);
    return record;
}

Effects effects_of(InfoCommand& command) {
    return {effect_of_external({command.source.image})};
}

/// The facts shown about a file.
struct Findings {
    std::string name, format;
    FrameHeader header;
    std::string samples; ///< such as "u16", "u8, 3 channels", "rgba f32"
    bool good = true;
    ArrayHeader array = {}; ///< set if the axes are not those of planes
};

std::string samples_of(const FrameHeader& header) {
    const std::string sample(name(header.sample));
    return header.channels == 1 ? sample : fmt::format("{}, {} channels", sample, header.channels);
}

/// Reads every frame, some rows at a time, and adds a remark for each frame that cannot be read.
void read_all(FrameSource& source, Findings& findings) {
    const ImageShape shape = source.header().shape;
    constexpr Elements at_once = Elements{1} << 20;
    const std::int64_t step = std::clamp<std::int64_t>(at_once / shape.width, 1, shape.height);
    const Bytes row = shape.width * source.header().channels * size_of(source.header().sample);
    std::vector<std::byte> rows(static_cast<std::size_t>(step * row));
    for (std::int64_t frame = 0; frame < source.header().frames; ++frame) {
        try {
            for (std::int64_t y = 0; y < shape.height; y += step) {
                const std::int64_t end = std::min(y + step, shape.height);
                source.read_samples(
                    frame, {y, end},
                    std::span(rows).first(static_cast<std::size_t>((end - y) * row)));
            }
        } catch (const InvalidFile& error) {
            findings.good = false;
            findings.header.remarks.push_back(
                fmt::format("frame {} cannot be read: {}", frame, error.what()));
        }
    }
}

/// Returns true for formats that contain images for compositing, not frames.
bool is_image_only(const std::string& path) {
    const auto images = format::catalogue();
    return !format::find_frame_format(path) &&
           std::any_of(images.begin(), images.end(), [&](const format::Format& row) {
               return format::has_extension(path, row.extension);
           });
}

/// Sets the axis names of an array. `alone`: only `apply` can read the array, because it has no
/// frames or because the user named other axes than those of planes. Its frames are then the times
/// or, if there is only one time, the slices.
void take_axes(const ArraySource& array, bool alone, Findings& findings) {
    const ArrayHeader& header = array.header();
    if (header.names.empty())
        return;
    findings.array = header;
    if (!alone)
        return;
    const auto length = [&](std::string_view name) {
        const auto at = std::find(header.names.begin(), header.names.end(), name);
        return at == header.names.end()
                   ? 0
                   : header.lengths[static_cast<std::size_t>(at - header.names.begin())];
    };
    findings.header.frames = std::max<std::int64_t>(1, length(length("t") > 1 ? "t" : "z"));
    findings.header.shape = {length("x"), length("y")};
    findings.header.pixel = header.pixel;
    findings.header.slice_distance = header.slice_distance;
    findings.header.frame_interval = header.frame_interval;
    findings.header.remarks = header.remarks;
}

/// Opens all planes of an array that has no frames because of the order of its axes. Returns null
/// for other files.
std::unique_ptr<FrameSource> open_without_frames(const std::string& path,
                                                 format::SourceOptions options) {
    options.every_plane = true;
    try {
        auto planes = format::open_frames(path, options);
        return format::why_no_frames(planes->header().axes).empty() ? nullptr : std::move(planes);
    } catch (const InvalidFile&) {
        return nullptr;
    }
}

/// Returns true if the user named axes other than those of planes. Otherwise, replaces the names
/// with one letter per axis: "t,y,x" with "tyx".
bool names_other_axes(const std::string& path, std::string& axes) {
    const std::vector<std::string> names = format::parse_axis_names(path, axes);
    if (std::ranges::all_of(names, [](const std::string& name) {
            return name.size() == 1 && format::are_plane_axes(name);
        })) {
        axes = fmt::format("{}", fmt::join(names, ""));
        return false;
    }
    for (const std::string_view name : {"y", "x"}) {
        if (std::ranges::find(names, name) == names.end())
            throw InvalidTask(fmt::format(
                "{}: axes \"{}\" were given, expected y (rows) and x (columns) among them", path,
                printable(axes)));
    }
    return true;
}

Findings look_at(const std::string& path, const format::SourceOptions& options, bool check) {
    Findings findings{path, {}, {}, {}};
    if (is_image_only(path)) {
        if (options.channel.value_or(0) + options.slice.value_or(0) + options.time.value_or(0) >
                0 ||
            !options.axes.empty())
            throw InvalidTask(
                fmt::format("{} has no channels, slices or times to choose from", path));
        const format::ImageHeader image = format::read_header(path);
        findings.format = format::format_of(path).name;
        findings.header.frames = 1;
        findings.header.shape = image.shape;
        findings.samples = image.element.name;
        if (check)
            format::read_image(path);
        return findings;
    }
    format::SourceOptions planes = options;
    const bool other_axes = !options.axes.empty() && names_other_axes(path, planes.axes);
    if (other_axes)
        planes.axes.clear();
    std::unique_ptr<FrameSource> source;
    std::string reason;
    try {
        source = format::open_frames(path, planes);
    } catch (const InvalidFile&) {
        source = open_without_frames(path, planes);
        if (!source)
            throw;
        reason = format::why_no_frames(source->header().axes);
    }
    findings.format = format::format_of_frames(path);
    findings.header = source->header();
    findings.samples = samples_of(source->header());
    if (other_axes || (!findings.header.axes.lengths.empty() && findings.header.axes.names.empty()))
        take_axes(*format::open_array(path, options, 0), other_axes || !reason.empty(), findings);
    if (!reason.empty())
        findings.header.remarks.push_back(reason + "; sextant apply may read it");
    if (check)
        read_all(*source, findings);
    return findings;
}

std::string pixel_text(const PixelSize& pixel) {
    if (!pixel.known())
        return "unknown";
    const std::string unit = pixel.unit.empty() ? "(no unit)" : pixel.unit;
    return pixel.x == pixel.y ? fmt::format("{:.6g} {}", pixel.x, unit)
                              : fmt::format("{:.6g} × {:.6g} {}", pixel.x, pixel.y, unit);
}

std::string as_text(const Findings& findings) {
    const FrameHeader& header = findings.header;
    std::string text = fmt::format("{}: {}\n", findings.name, findings.format);
    text += fmt::format("  frames      {}\n", header.frames);
    if (const ArrayHeader& array = findings.array; !array.lengths.empty()) {
        text += "  axes        ";
        for (std::size_t axis = 0; axis < array.lengths.size(); ++axis)
            text += fmt::format("{}{} {}", axis == 0 ? "" : " × ", array.names[axis],
                                array.lengths[axis]);
        text += "\n";
    } else if (!header.axes.lengths.empty())
        text +=
            fmt::format("  axes        {}{}{}\n", header.axes.names,
                        header.axes.names.empty() ? "" : ", ", fmt::join(header.axes.lengths, "×"));
    const Hyperstack& stack = header.hyperstack;
    if (stack.channels > 1)
        text += fmt::format("  channels    {}, reading {}\n", stack.channels, stack.channel);
    if (stack.slices > 1)
        text += fmt::format("  slices      {}, reading {}\n", stack.slices, stack.slice);
    if (stack.times > 1)
        text += fmt::format("  times       {}, reading {}\n", stack.times, stack.time);
    text += fmt::format("  size        {}×{}\n", header.shape.width, header.shape.height);
    text += fmt::format("  samples     {}\n", findings.samples);
    text += fmt::format("  pixel size  {}\n", pixel_text(header.pixel));
    if (header.slice_distance > 0)
        text += fmt::format("  distance    {:.6g} {} from slice to slice\n", header.slice_distance,
                            header.pixel.unit);
    if (header.frame_interval > 0)
        text += fmt::format("  interval    {:.6g} s\n", header.frame_interval);
    for (const std::string& remark : header.remarks)
        text += fmt::format("  remark      {}\n", remark);
    return text;
}

std::string as_json(const Findings& findings) {
    const FrameHeader& header = findings.header;
    const PixelSize& pixel = header.pixel;
    return to_json(results_of("info").include(
        {{"file", findings.name},
         {"format", findings.format},
         {"frames", header.frames},
         {"channels", header.hyperstack.channels},
         {"slices", header.hyperstack.slices},
         {"times", header.hyperstack.times},
         {"axes", !findings.array.names.empty() ? Json(findings.array.names)
                  : header.axes.names.empty()   ? Json()
                                                : Json(header.axes.names)},
         {"shape", header.axes.lengths.empty() ? Json() : Json(header.axes.lengths)},
         {"width", header.shape.width},
         {"height", header.shape.height},
         {"samples", findings.samples},
         {"pixel_size",
          pixel.known() ? Json{{"x", pixel.x}, {"y", pixel.y}, {"unit", pixel.unit}} : Json()},
         {"slice_distance", header.slice_distance > 0 ? Json(header.slice_distance) : Json()},
         {"frame_interval", header.frame_interval > 0 ? Json(header.frame_interval) : Json()},
         {"remarks", header.remarks}}));
}

int run_info(const InfoCommand& command, const Call&) {
    const std::vector<std::string> outputs = files_named({command.json});
    check_outputs(outputs, files_read(command.source, "", outputs));
    const Findings findings =
        look_at(command.source.image, command.source.options(), command.check);
    write_reports({command.json, ""}, {}, as_json(findings), as_text(findings), "");
    return findings.good ? 0 : 1;
}

} // namespace

Operation info_operation() {
    return declare_command<InfoCommand>(
        "info", "show the format, size, samples and pixel size of an image or series",
        "  sextant info movie.mrc\n"
        "  sextant info 'frames/frame_%04d.tif' --check --json\n"
        "  sextant info movie.h5::/data/images",
        run_info, RunOn::one_rank);
}

} // namespace sextant::command
