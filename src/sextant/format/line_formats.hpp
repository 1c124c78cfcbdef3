// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/contour_lines.hpp"

#include <span>
#include <string>
#include <string_view>

namespace sextant::format {

/// Writes a CSV file with the columns contour,rank,x,y and one row per point. Contours and ranks
/// are counted from 0; the head of a contour has rank 0.
void write_csv(const std::string& path, LineReader& contours);

/// Writes a FeatureCollection. A contour is a LineString that starts at its head and, if the
/// contour is closed, ends there. A contour of one point is a Point. Coordinates are pixel centres;
/// y increases downwards. Properties are contour (from 0), points and closed.
void write_geojson(const std::string& path, LineReader& contours);

/// Writes an array (points, 4) of 64-bit integers: contour, rank, x and y, as in CSV. Throws
/// InvalidFile if there are no points, because empty arrays are not supported.
void write_npy(const std::string& path, LineReader& contours);

/// Writes one path per contour through its pixel centres. The drawing has the size of the image.
void write_svg(const std::string& path, LineReader& contours);

/// A file format for pixel contours: an entry of the catalogue.
struct LineFormat {
    std::string_view name;      ///< such as "GeoJSON"
    std::string_view extension; ///< such as ".geojson"
    std::string_view summary;
    /// Writes the complete file or nothing. Throws InvalidFile.
    void (*write)(const std::string& path, LineReader& contours);
};

/// Returns all formats, in the order of `sextant list`.
std::span<const LineFormat> line_catalogue();

/// Returns the format with the path's extension. If there is none, throws InvalidTask, which lists
/// the known extensions.
const LineFormat& line_format_of(const std::string& path);

} // namespace sextant::format
