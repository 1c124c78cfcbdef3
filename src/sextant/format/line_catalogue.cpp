// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/line_catalogue.hpp"

#include "sextant/core/error.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/format/lines_csv.hpp"
#include "sextant/format/lines_geojson.hpp"
#include "sextant/format/lines_npy.hpp"
#include "sextant/format/lines_svg.hpp"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::format {

namespace {

constexpr LineFormat formats[] = {
    {"GeoJSON", ".geojson", "a LineString a contour, in pixels, rows downward", write_geojson},
    {"SVG", ".svg", "a path a contour, over the image's pixels", write_svg},
    {"CSV", ".csv", "a row a point: contour, rank, x, y", write_csv},
    {"NPY", ".npy", "the same numbers as an array of 64-bit integers", write_npy},
};

} // namespace

std::span<const LineFormat> line_catalogue() {
    return formats;
}

const LineFormat& line_format_of(const std::string& path) {
    std::vector<std::string_view> known;
    for (const LineFormat& row : formats) {
        if (has_extension(path, row.extension))
            return row;
        known.push_back(row.extension);
    }
    throw InvalidTask(fmt::format("{}: contours are written as {}", path, fmt::join(known, ", ")));
}

} // namespace sextant::format
