// SPDX-License-Identifier: BSD-3-Clause
// Tables of components and regions, for `sextant label` and `sextant measure`.
#include "sextant/command/label/label_command.hpp"
#include "sextant/core/error.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/report/text.hpp"

#include <array>
#include <iterator>

#include <fmt/format.h>

namespace sextant::command {

namespace {

bool is_integer(Sample sample) {
    return sample != Sample::f16 && sample != Sample::f32 && sample != Sample::f64;
}

} // namespace

std::string LabelTable::columns() const {
    std::string text = is_image_ ? "label,area,x,y,width,height,centroid_x,centroid_y"
                                 : "label,voxels,z,y,x,depth,height,width,centroid_z,centroid_y,"
                                   "centroid_x";
    if (!only_sizes_)
        text += is_image_ ? ",axis_1,axis_2,axis_1_y,axis_1_x,perimeter,at_border"
                          : ",axis_1,axis_2,axis_3,axis_1_z,axis_1_y,axis_1_x,faces,at_border";
    return text + (intensity_ ? ",sum,mean,minimum,maximum\n" : "\n");
}

std::string LabelTable::row(const std::string& label, const kernel::Body& body) const {
    const std::array<double, 3> centroid = body.centroid();
    const auto side = [&](std::size_t axis) { return body.high[axis] - body.low[axis] + 1; };
    std::string text = label;
    const auto to = std::back_inserter(text);
    if (is_image_)
        fmt::format_to(to, ",{},{},{},{},{},{},{}", body.voxels, body.low[2], body.low[1], side(2),
                       side(1), centroid[2], centroid[1]);
    else
        fmt::format_to(to, ",{},{},{},{},{},{},{},{},{},{}", body.voxels, body.low[0], body.low[1],
                       body.low[2], side(0), side(1), side(2), centroid[0], centroid[1],
                       centroid[2]);
    kernel::BodyAxes axes;
    if (!only_sizes_)
        axes = kernel::axes_of(body);
    if (!only_sizes_ && is_image_)
        fmt::format_to(to, ",{},{},{},{},{},{}", axes.deviations[0], axes.deviations[1],
                       axes.directions[0][1], axes.directions[0][2], body.perimeter(),
                       body.at_border ? 1 : 0);
    else if (!only_sizes_)
        fmt::format_to(to, ",{},{},{},{},{},{},{},{}", axes.deviations[0], axes.deviations[1],
                       axes.deviations[2], axes.directions[0][0], axes.directions[0][1],
                       axes.directions[0][2], body.faces(), body.at_border ? 1 : 0);
    if (intensity_ && is_integer(*intensity_))
        fmt::format_to(to, ",{},{},{},{}", body.integer_sum(), body.intensity_mean(),
                       body.integer_minimum(), body.integer_maximum());
    else if (intensity_)
        fmt::format_to(to, ",{},{},{},{}", body.intensity_sum(), body.intensity_mean(),
                       body.minimum(), body.maximum());
    return text + "\n";
}

std::string remark_on_sums(Elements beyond) {
    return beyond == 0
               ? ""
               : fmt::format("{} of intensities {} beyond the range of f64 and written as infinity",
                             report::counted(beyond, "sum"), beyond == 1 ? "is" : "are");
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

LabelInput IntensityChoice::input(FrameSource& opened, const SourceChoice& labelled,
                                  bool is_image) const {
    if (!is_image)
        return {opened};
    const std::int64_t frames = opened.header().frames;
    if (frames > 1 && !labelled.frame)
        throw InvalidTask(fmt::format("--intensity {}: {} frames, expected one frame, as in {}",
                                      file, frames, labelled.image));
    return {opened, frames > 1 ? *labelled.frame : 0};
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
             "--intensity channel, from 0; default: first (--channel if same file)")
        .between(0, most);
    return record;
}

Effect effect_of(const IntensityChoice& intensity) {
    return {{"intensity_channel"}, "expected --intensity", [&] { return bool(intensity); }};
}

} // namespace sextant::command
