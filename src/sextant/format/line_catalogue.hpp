// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/contour_lines.hpp"

#include <span>
#include <string>
#include <string_view>

namespace sextant::format {

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
