// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/contour_lines.hpp"

#include <span>
#include <string>
#include <string_view>

namespace sextant::format {

/// Writes the columns contour,rank,x,y with one row per point; contours and ranks count from 0,
/// rank 0 is the head.
void write_csv(const std::string& path, LineReader& contours);

/// Writes a FeatureCollection: one LineString per contour, starting at its head and, if closed,
/// ending there; a Point for a contour of one point. Coordinates are pixel centres, rows run
/// downward. Properties: contour (from 0), points, closed.
void write_geojson(const std::string& path, LineReader& contours);

/// Writes an array (points, 4) of 64-bit integers: contour, rank, x and y, as in CSV. Throws
/// InvalidFile if there is no point, because empty arrays are not supported.
void write_npy(const std::string& path, LineReader& contours);

/// Writes one path per contour through its pixel centres; the drawing has the size of the image.
void write_svg(const std::string& path, LineReader& contours);

/// A file format for pixel contours: a row of the catalogue.
struct LineFormat {
    std::string_view name;      ///< such as "GeoJSON"
    std::string_view extension; ///< such as ".geojson"
    std::string_view summary;
    /// Writes the whole file or none. Throws InvalidFile.
    void (*write)(const std::string& path, LineReader& contours);
};

/// Returns all formats, in the order of `sextant list`.
std::span<const LineFormat> line_catalogue();

/// Returns the format for a path's extension. If there is none, throws InvalidTask that lists the
/// known extensions.
const LineFormat& line_format_of(const std::string& path);

} // namespace sextant::format
