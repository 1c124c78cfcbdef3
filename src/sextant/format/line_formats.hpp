// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/contour_lines.hpp"

#include <span>
#include <string>
#include <string_view>

namespace sextant::format {

/// contour,rank,x,y: a row for each point, contours from 0, ranks from 0 at the head.
void write_csv(const std::string& path, LineReader& contours);

/// A FeatureCollection: a LineString for each contour from its head on, of a closed one back to its
/// head; a Point for a contour of one. Coordinates are the middles of pixels, rows run downward.
/// Properties: contour (from 0), points, closed.
void write_geojson(const std::string& path, LineReader& contours);

/// An array (points, 4) of 64-bit integers: contour, rank, x and y of each point, as CSV has them.
/// Requires  at least one point (InvalidFile): the format, as it is written here, has no empty
/// arrays.
void write_npy(const std::string& path, LineReader& contours);

/// A path for each contour through the middles of its pixels; the drawing is as large as the image.
void write_svg(const std::string& path, LineReader& contours);

/// A format that lines of pixels are written in: one file of code and one row of the catalogue.
struct LineFormat {
    std::string_view name;      ///< "GeoJSON"
    std::string_view extension; ///< ".geojson"
    std::string_view summary;
    /// All or nothing. Throws InvalidFile.
    void (*write)(const std::string& path, LineReader& contours);
};

/// Every format, in the order of `sextant list`.
std::span<const LineFormat> line_catalogue();

/// The format of a path by its extension. Throws InvalidTask naming the known extensions.
const LineFormat& line_format_of(const std::string& path);

} // namespace sextant::format
