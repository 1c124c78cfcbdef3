// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/contour_lines.hpp"

#include <string>

namespace sextant::format {

/// A FeatureCollection: a LineString for each contour from its head on, of a closed one back to its
/// head; a Point for a contour of one. Coordinates are the middles of pixels, rows run downward.
/// Properties: contour (from 0), points, closed.
void write_geojson(const std::string& path, LineReader& contours);

} // namespace sextant::format
