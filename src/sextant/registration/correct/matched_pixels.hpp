// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/registration/correct/corrected_frames.hpp"
#include "sextant/registration/pair/motion.hpp"
#include "sextant/registration/transform/canvas.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

// The pixels that are compared. All other pixels are gaps for the registration, but not in averages
// and aligned frames.
namespace sextant::registration {

/// A polygon: its outline, and the outlines of holes. Coordinates are in pixels; the first pixel of
/// a frame is the square from (0, 0) to (1, 1), as in ImageJ and QuPath.
using Polygon = std::vector<std::vector<Point>>;

/// Reads the polygons of a JSON file. Accepted are the GeoJSON objects Polygon, MultiPolygon,
/// GeometryCollection, Feature and FeatureCollection; objects with the outline as lists `x` and `y`
/// or as `coordinates`, a list of [x, y]; and lists of all these. Throws InvalidFile, naming the
/// field.
std::vector<Polygon> read_polygons(const std::string& path);

/// The part of frames to compare: the pixels selected by all given members. All may be empty.
struct MatchedRegion {
    OpenImage mask; ///< image with the shape of frames: nonzero pixels are compared
    std::vector<Polygon> polygons = {}; ///< pixels with their centre in one are compared

    bool empty() const { return !mask && polygons.empty(); }
};

/// The compared pixels: the smallest rectangle that contains them, and a mask of this rectangle.
struct MatchedPixels {
    PixelArea box;
    std::vector<std::uint8_t> counts; ///< of the box, row by row: 1 if the pixel is compared
    std::int64_t pixels = 0;          ///< number of compared pixels
    std::uint64_t hash = 0;
    std::string warning = {}; ///< set if the mask is probably inverted
};

/// Finds the pixels to compare.
///
/// Input     the region; the rectangle x, y, width, height, or nothing for whole frames; the
///           series. `whole`: the box is that of whole frames.
/// Throws    InvalidData, with the path and both shapes, if the mask does not have the shape of the
///           frames, the rectangle is not inside the frames, no pixel is selected, or too few
///           pixels of the box are selected for a comparison.
MatchedPixels matched_pixels(const MatchedRegion& region, std::span<const std::int64_t> rectangle,
                             const FrameSource& series, bool whole);

/// Returns the box of each frame of a series; pixels that are not compared are gaps (NaN). The
/// source and the pixels must outlive the result.
std::unique_ptr<FrameSource> matched_frames(FrameSource& source, const MatchedPixels& matched);

} // namespace sextant::registration
