// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/detector_files.hpp"

#include "sextant/command/options.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/text.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/report/text.hpp"

#include <cstdint>
#include <optional>
#include <sstream>
#include <string_view>

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

/// Returns the pixel "x,y" of a line; blanks around the numbers are ignored.
std::optional<registration::DetectorPixel> pixel_in(std::string_view line) {
    const auto number = [](std::string_view text) {
        constexpr std::string_view blanks = " \t\r";
        const std::size_t first = text.find_first_not_of(blanks);
        const std::size_t last = text.find_last_not_of(blanks);
        return first == std::string_view::npos
                   ? std::nullopt
                   : parsed_number<std::int64_t>(text.substr(first, last - first + 1));
    };
    const std::size_t comma = line.find(',');
    if (comma == std::string_view::npos)
        return std::nullopt;
    const auto x = number(line.substr(0, comma)), y = number(line.substr(comma + 1));
    if (!x || !y)
        return std::nullopt;
    return registration::DetectorPixel{*x, *y};
}

/// Reads one pixel per line; skips empty lines, comments (#) and the header x,y.
std::vector<registration::DetectorPixel> read_pixels(const std::string& path, ImageShape shape) {
    constexpr Bytes longest = Bytes{1} << 28;
    std::istringstream file(read_text(path, longest));
    std::vector<registration::DetectorPixel> pixels;
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
        if (line.ends_with('\r'))
            line.pop_back();
        if (line.find_first_not_of(" \t") == std::string::npos || line.starts_with('#') ||
            (pixels.empty() && line == "x,y"))
            continue;
        const auto pixel = pixel_in(line);
        if (!pixel)
            throw InvalidFile(path,
                              fmt::format("line {}: \"{}\", expected the column and the row of a "
                                          "pixel, x,y",
                                          number, shortened(line, 40)));
        const auto [x, y] = *pixel;
        if (x < 0 || y < 0 || x >= shape.width || y >= shape.height)
            throw InvalidFile(path, fmt::format("line {}: pixel ({}, {}) is outside the frames, "
                                                "which have {}x{} pixels",
                                                number, x, y, shape.width, shape.height));
        pixels.push_back(*pixel);
    }
    if (pixels.empty())
        throw InvalidFile(path, "has no pixels, expected lines of x,y");
    return pixels;
}

} // namespace

Record record_of(DetectorFiles& files) {
    Record record;
    record.add("dark", files.dark, "FILE", "image without beam, which is subtracted from frames")
        .file();
    record
        .add("gain", files.gain, "FILE",
             "image of the detector's sensitivity, by which frames are divided")
        .file();
    record
        .add("defects", files.defects, "FILE",
             "defective pixels: an image (not 0) or a .txt or .csv list of x,y")
        .file();
    return record;
}

std::vector<std::string> paths_of(const DetectorFiles& files,
                                  std::span<const std::string> outputs) {
    std::vector<std::string> paths;
    for (const std::string& path : {files.dark, files.gain, files.defects}) {
        if (path.empty())
            continue;
        if (path == files.defects && is_list(path)) {
            paths.push_back(path);
            continue;
        }
        for (std::string& each : files_of_series(path, {}, outputs))
            paths.push_back(std::move(each));
    }
    return paths;
}

registration::DetectorImages images_of(const DetectorFiles& files, ImageShape shape) {
    registration::DetectorImages images{opener_of(files.dark), opener_of(files.gain), {}, {}};
    if (is_list(files.defects))
        images.defective = read_pixels(files.defects, shape);
    else
        images.defects = opener_of(files.defects);
    return images;
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
