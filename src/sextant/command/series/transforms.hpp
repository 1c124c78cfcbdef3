// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/core/record.hpp"
#include "sextant/registration/pair/motion.hpp"
#include "sextant/registration/series/frame_series.hpp"
#include "sextant/registration/transform/canvas.hpp"
#include "sextant/registration/transform/combined.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sextant::command {

/// The file of displacement fields of all frames that are not left out: a series of f32 images of
/// `nodes` pixels. Each frame has four images: the displacements to the right and downward and
/// their standard deviation, all in pixels, and a mask that is 1 at nodes with a known
/// displacement.
struct FieldFile {
    std::string path; ///< path relative to the folder of `transforms.json`
    Elements spacing = 0;
    ImageShape nodes;
};

/// The file of row displacements of all frames that are not left out: a series of f32 images with
/// one line per row of a frame. A line has three numbers, all in pixels: the displacements to the
/// right and downward, and the standard deviation of the former.
struct RowFile {
    std::string path; ///< path relative to the folder of `transforms.json`
    std::int64_t rows = 0;
    std::int64_t flyback = 0; ///< number of columns at the left edge that are gaps
};

/// The stack of aligned frames, and its area in pixels of the reference.
struct AlignedFile {
    std::string path; ///< as named by the user, or in the folder of `transforms.json`
    registration::PixelArea area;
};

/// The transforms of all frames of a series, as in `transforms.json` (docs/registration.md).
struct SeriesTransforms {
    std::string series, model; ///< the model is "rigid", "nonrigid", "affine" ...
    std::int64_t reference = 0;
    int stages = 1;
    ImageShape shape;
    PixelSize pixel;
    std::vector<FrameRegistration> frames;
    double row_shift = 0; ///< displacement of odd rows before they are aligned (RowShift), pixels
    std::optional<FieldFile> fields;
    std::optional<RowFile> rows; ///< set for scanned frames
    bool with_seconds = true;    ///< false: omit times, so that files can be compared
    /// The image relative to which motions are stated: "frame 3", "the average of stage 1"; "" if
    /// unknown.
    std::string relative_to = {};
    std::vector<std::string> files = {};          ///< names of the run's files in the same folder
    std::optional<AlignedFile> aligned_file = {}; ///< the stack of aligned frames, if written
    /// The area of the average and of aligned frames, in pixels of the reference. Empty for files
    /// of earlier versions, whose averages have the area of the reference.
    std::optional<registration::PixelArea> canvas = {};

    /// Returns the canvas, or else the area of the reference.
    registration::PixelArea area() const { return canvas.value_or(registration::area_of(shape)); }
};

/// Returns remarks on a frame that is not left out: "ambiguous", "mended" ...
std::vector<std::string> flags_of(const FrameRegistration& place);

/// Receives a text in parts.
using TextSink = std::function<void(std::string_view part)>;

/// Writes transforms as JSON, frame by frame, because the text of a long series is large.
void write_json(const SeriesTransforms& transforms, const TextSink& sink);
/// Writes one line per frame, after comment lines (#) that describe the columns.
void write_csv(const SeriesTransforms& transforms, const TextSink& sink);

/// Reads those fields written by write_json() that `apply` needs: the motion of each frame, or the
/// reason why the frame was left out. Throws InvalidFile, naming the field, its value and what was
/// expected.
SeriesTransforms read_transforms(const std::string& path);

/// The cells of a line of a table.
using Cells = std::vector<std::string_view>;

/// Reads lines with one cell per column, separated by commas. Skips empty lines, lines that begin
/// with # and a first line with the column names, which `columns` lists in lower case. Throws
/// InvalidFile, naming the line, if the number of cells is wrong or `take` returns false;
/// `expected` describes a valid line.
void read_table(const std::string& path, const Cells& columns, std::string_view expected,
                const std::function<bool(const Cells& cells, int line)>& take);

/// A point in a frame of a series, and its line in the file.
struct FramePoint {
    std::int64_t frame = 0;
    registration::Point at;
    int line = 0;
};

/// Reads lines of frame number, x and y with read_table().
std::vector<FramePoint> read_coordinates(const std::string& path);

/// Formats points as read_coordinates() expects them, with column names.
std::string to_csv(const std::vector<FramePoint>& points);

/// The transforms of a file. Displacement fields and row displacements are read on demand.
class AppliedTransforms {
  public:
    explicit AppliedTransforms(const std::string& path);

    const std::string& path() const { return path_; }
    const SeriesTransforms& all() const { return all_; }
    /// Returns the number of columns at the left edge of frames that are gaps.
    std::int64_t flyback() const { return all_.rows ? all_.rows->flyback : 0; }

    /// Returns the files to which the transforms file refers.
    std::vector<std::string> files() const;

    /// Returns the transform of a frame. Throws InvalidTask, naming the frame, if the file does not
    /// list the frame or lists it as left out.
    registration::Transform of(std::int64_t frame);

    /// Returns the frames of a series of `count` frames that were registered and not left out.
    /// Throws InvalidTask, naming the series `path`, if other frames were registered.
    std::vector<std::int64_t> frames_of(const std::string& path, std::int64_t count) const;

    /// Throws InvalidFile, naming the file `path`, unless its frames have the size of the
    /// registered ones.
    void require_shape(const std::string& path, ImageShape shape) const;

  private:
    /// A frame's index in the file, and the number of registered frames before it.
    struct Standing {
        std::size_t place = 0;
        std::int64_t registered = 0;
    };

    registration::DisplacementField field(std::int64_t number);
    registration::RowMotion rows(std::int64_t number, const registration::RigidMotion& motion);

    std::string path_;
    SeriesTransforms all_;
    std::unordered_map<std::int64_t, Standing> places_; ///< indexed by frame number
    std::int64_t registered_ = 0;
    std::unique_ptr<FrameSource> fields_, rows_;
};

} // namespace sextant::command
