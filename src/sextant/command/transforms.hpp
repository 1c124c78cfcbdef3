// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/registration/pair/motion.hpp"
#include "sextant/registration/series/frame_series.hpp"
#include "sextant/registration/transform/canvas.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::command {

/// The file of displacement fields of all frames that are not left out: a series of f32 images of
/// `nodes` pixels. Each frame has four images: the displacement to the right, that downward, their
/// standard deviation, all in pixels, and a mask that is 1 where the displacement is known.
struct FieldFile {
    std::string path; ///< path relative to the folder of `transforms.json`
    Elements spacing = 0;
    ImageShape nodes;
};

/// The file of the displacements of the rows of all frames that are not left out: a series of f32
/// images with one line per row of a frame, of three numbers: the displacement to the right, that
/// downward, and the standard deviation of the former, all in pixels.
struct RowFile {
    std::string path; ///< path relative to the folder of `transforms.json`
    std::int64_t rows = 0;
    std::int64_t flyback = 0; ///< number of columns at the left edge that are gaps
};

/// The stack of aligned frames, and the pixel of the reference that is its first pixel.
struct AlignedFile {
    std::string path; ///< as named by the user, or in the folder of `transforms.json`
    std::int64_t x = 0, y = 0, width = 0, height = 0;
};

/// The transforms of all frames of a series, as in `transforms.json` (docs/registration.md).
struct SeriesTransforms {
    std::string series, model; ///< the model is "rigid", "nonrigid", "affine" ...
    std::int64_t reference = 0;
    int stages = 1;
    ImageShape shape;
    PixelSize pixel;
    std::vector<FrameRegistration> frames;
    std::optional<FieldFile> fields;
    std::optional<RowFile> rows; ///< of scanned frames
    bool with_seconds = true;    ///< false to omit times, so that files can be compared
    /// The image relative to which motions are stated: "frame 3", "the average of stage 1"; empty
    /// if unknown.
    std::string relative_to = {};
    std::vector<std::string> files = {};          ///< names of the run's files in the same folder
    std::optional<AlignedFile> aligned_file = {}; ///< the stack of aligned frames, if written
    /// The area of the average and of aligned frames, in pixels of the reference; none in files of
    /// earlier versions, whose averages have the area of the reference.
    std::optional<registration::PixelArea> canvas = {};

    /// Returns the canvas, or else the area of the reference.
    registration::PixelArea area() const { return canvas.value_or(registration::area_of(shape)); }
};

/// Remarks on a frame that is not left out: "ambiguous", "mended" ...
std::vector<std::string> flags_of(const FrameRegistration& place);

/// Receives a text in parts.
using TextSink = std::function<void(std::string_view part)>;

/// Writes frame by frame, because the text of a long series is large.
void write_json(const SeriesTransforms& transforms, const TextSink& sink);
/// Writes one line per frame, after comment lines (#) that describe the columns.
void write_csv(const SeriesTransforms& transforms, const TextSink& sink);

/// Reads the part of the output of `write_json` that `apply` needs: the motion of each frame or
/// the reason why the frame was left out. Throws InvalidFile, naming the field, what was found and
/// what was expected.
SeriesTransforms read_transforms(const std::string& path);

/// A point in a frame of a series, and its line in the file.
struct FramePoint {
    std::int64_t frame = 0;
    registration::Point at;
    int line = 0;
};

/// Reads lines of frame number, x and y, separated by commas; skips lines with # and a first line
/// with column names. Throws InvalidFile, naming the line, for anything else.
std::vector<FramePoint> read_coordinates(const std::string& path);

/// Writes points in the format of read_coordinates, with column names.
std::string to_csv(const std::vector<FramePoint>& points);

} // namespace sextant::command
