// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/series/detector_files.hpp"

#include "sextant/command/options.hpp"
#include "sextant/command/series/transforms.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/text.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/report/text.hpp"

#include <cstdint>

#include <fmt/format.h>

namespace sextant::command {

namespace {

registration::OpenImage opener_of(const std::string& path) {
    if (path.empty())
        return {};
    return [path] { return format::open_frames(path); };
}

bool is_list(const std::string& path) {
    return path.ends_with(".txt") || path.ends_with(".csv");
}

bool is_json(const std::string& path) {
    return path.ends_with(".json") || path.ends_with(".geojson");
}

/// Reads a list with one pixel per line.
std::vector<registration::DetectorPixel> read_pixels(const std::string& path, ImageShape shape) {
    std::vector<registration::DetectorPixel> pixels;
    read_table(path, {"x", "y"}, "the column and the row of a pixel, x,y",
               [&](const Cells& cells, int line) {
                   const auto x = parsed_number<std::int64_t>(cells[0]);
                   const auto y = parsed_number<std::int64_t>(cells[1]);
                   if (!x || !y)
                       return false;
                   if (*x < 0 || *y < 0 || *x >= shape.width || *y >= shape.height)
                       throw InvalidFile(
                           path, fmt::format("line {}: pixel ({}, {}) is outside the frames, which "
                                             "have {}x{} pixels",
                                             line, *x, *y, shape.width, shape.height));
                   pixels.push_back({*x, *y});
                   return true;
               });
    if (pixels.empty())
        throw InvalidFile(path, "has no pixels, expected lines of x,y");
    return pixels;
}

} // namespace

Record record_of(DetectorFiles& files) {
    Record record;
    record
        .add("dark", files.dark, "FILE",
             "image recorded with the beam off; subtracted from every frame")
        .file();
    record
        .add("gain", files.gain, "FILE",
             "image of the detector's sensitivity; every frame is divided by it")
        .file();
    record
        .add("gain_rotate", files.gain_degrees, "DEGREES",
             "rotate the gain image clockwise by 90, 180 or 270 degrees")
        .between(0, 270);
    record.add("gain_flip", files.gain_mirror,
               {{"none", registration::Mirror::none},
                {"x", registration::Mirror::x},
                {"y", registration::Mirror::y}},
               "AXIS", "mirror the rotated gain image along x or y");
    record
        .add("defects", files.defects, "FILE",
             "defective pixels: an image (nonzero) or a .txt or .csv list of x,y")
        .file();
    record
        .add("mask", files.mask, "FILE",
             "compare only these pixels: an image, or .json or .geojson polygons")
        .file();
    return record;
}

Effects effects_of(const DetectorFiles& files) {
    return {{{"gain_rotate", "gain_flip"}, "there is no gain image; expected {gain} too", [&] {
                 return !files.gain.empty();
             }}};
}

std::vector<std::string> paths_of(const DetectorFiles& files,
                                  std::span<const std::string> outputs) {
    std::vector<std::string> paths;
    for (const std::string& path : {files.dark, files.gain, files.defects, files.mask}) {
        if (path.empty())
            continue;
        if ((path == files.defects && is_list(path)) || (path == files.mask && is_json(path))) {
            paths.push_back(path);
            continue;
        }
        for (std::string& each : files_of_series(path, {}, outputs))
            paths.push_back(std::move(each));
    }
    return paths;
}

registration::DetectorImages images_of(const DetectorFiles& files, ImageShape shape) {
    constexpr std::int64_t quarter = 90;
    if (files.gain_degrees % quarter != 0)
        throw InvalidTask(
            fmt::format("--gain-rotate {}: expected 0, 90, 180 or 270", files.gain_degrees));
    registration::DetectorImages images{
        opener_of(files.dark),
        opener_of(files.gain),
        {},
        {},
        {static_cast<int>(files.gain_degrees / quarter), files.gain_mirror}};
    if (is_list(files.defects))
        images.defective = read_pixels(files.defects, shape);
    else
        images.defects = opener_of(files.defects);
    return images;
}

registration::MatchedRegion region_of(const std::string& mask) {
    if (is_json(mask))
        return {{}, registration::read_polygons(mask)};
    return {opener_of(mask)};
}

std::string describe_ignored(const RegistrationResult& result) {
    std::int64_t outliers = 0, frames = 0;
    for (const FrameRegistration& frame : result.frames) {
        outliers += frame.outliers.count;
        frames += frame.outliers.count > 0;
    }
    if (result.defects == 0 && outliers == 0)
        return "";
    const std::string defects =
        report::counted(result.defects, "defective pixel") + " of the detector";
    const std::string rest =
        report::counted(outliers, "outlier") + " in " + report::counted(frames, "frame");
    return "ignored: " + (outliers == 0         ? defects
                          : result.defects == 0 ? rest
                                                : defects + ", and " + rest);
}

} // namespace sextant::command
