// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/frame_source.hpp"
#include "sextant/registration/frame_series.hpp"
#include "sextant/registration/motion.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::command {

/// Fields of the frames that are not left out, in a series of f32 frames of `nodes` pixels, four a
/// frame: u to the right and downward in pixels, its standard deviation, and 1 where it is known.
struct FieldFile {
    std::string path; ///< as written in the file: relative to its folder
    Elements spacing = 0;
    ImageShape nodes;
};

/// Where all frames of a series lie, as `transforms.json` has it: docs/registration.md.
struct SeriesTransforms {
    std::string series, model; ///< "rigid" or "nonrigid"
    std::int64_t reference = 0;
    int stages = 1;
    ImageShape shape;
    PixelSize pixel;
    std::vector<registration::FramePlace> frames;
    std::optional<FieldFile> fields;
    bool with_seconds = true; ///< else they are not told, so that files can be compared
};

/// "ambiguous", "mended" ...: what users should know of a frame that is not left out.
std::vector<std::string> flags_of(const registration::FramePlace& place);

/// Takes a text, part by part.
using TextSink = std::function<void(std::string_view part)>;

/// A frame at a time: of long series the whole would be larger than all else in memory.
void write_json(const SeriesTransforms& transforms, const TextSink& sink);
/// A line a frame, below lines with # that say what the columns are.
void write_csv(const SeriesTransforms& transforms, const TextSink& sink);

/// Reads what `write_json` wrote: of each frame what `apply` needs, its motion and whether it was
/// left out. Throws InvalidFile, naming the field, what was found and what was expected.
SeriesTransforms read_transforms(const std::string& path);

/// A place in a frame of a series, and the line of the file that has it.
struct FramePoint {
    std::int64_t frame = 0;
    registration::Point at;
    int line = 0;
};

/// Reads lines of a frame's number, x and y, with commas between; lines with # and a first line of
/// these names are passed over. Throws InvalidFile, naming the line, for anything else.
std::vector<FramePoint> read_coordinates(const std::string& path);

/// The same, below a line of names.
std::string to_csv(const std::vector<FramePoint>& points);

} // namespace sextant::command
