// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/array_source.hpp"
#include "sextant/comm/thread_team.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/registration/pair/motion.hpp"
#include "sextant/registration/transform/canvas.hpp"
#include "sextant/registration/transform/row_positions.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

// Motions applied to arrays of any number of axes: every channel, slice, spectrum or diffraction
// pattern moves with its pixel.
namespace sextant::registration {

/// The axes of an array that motions refer to; all others are carried along. `column` follows
/// `row`, and the axis of frames, if there is one, is before them.
struct MovedAxes {
    std::optional<std::size_t> frame;
    std::size_t row = 0, column = 1;
};

/// A frame of the array, and the registered frame whose motion applies to it.
struct MovedFrame {
    std::int64_t position = 0, registered = 0;
};

struct AlignOptions {
    AlignBy by = AlignBy::bilinear;
    bool sum = false;         ///< add up the aligned frames; pixels outside a frame add nothing
    PixelArea area;           ///< area of the result, in the coordinates of the reference
    double gap = 0;           ///< sample where a frame has no data
    std::int64_t flyback = 0; ///< number of columns at the left edge that are gaps
    Bytes memory = Bytes{1} << 30; ///< for buffers; the cache of the source is not included
    /// The sink is an array that already holds samples: every sample is written.
    bool overwrites = false;
};

struct AlignResult {
    double total = 0;    ///< splat: the sum of all samples of the frames
    double outside = 0;  ///< splat: the part of it that fell outside the area
    double farthest = 0; ///< shift: largest distance of a pixel from its exact position
    /// The number of values other than 0 that are 0 as samples of a floating-point type.
    Elements vanished = 0;
    /// The number of samples that lose differences of 1: whole numbers, or whole parts of results
    /// interpolated from integers of 32 or 64 bits, that the type of the result, or the double of a
    /// sum, cannot hold. Shift: also samples that a smaller floating-point type rounds. The same
    /// for every method if samples of type f64 differ by less than floats resolve (core
    /// offset_of()).
    Elements rounded = 0;
    /// The number of values beyond the range of an integer type that the data do not have.
    Elements clamped = 0;
    /// Sums: per pixel of the area, the number of frames that contribute; for splat, the sum of
    /// their weights.
    std::vector<float> count;
};

/// The lengths of the result: those of the source, with the area's height and width. The axis of
/// frames is missing in sums and if the source has none.
std::vector<std::int64_t> aligned_lengths(const ArrayHeader& source, const MovedAxes& axes,
                                          std::int64_t frames, const AlignOptions& options);

/// The lengths of chunks for a result: those of the source along the axes that are carried along,
/// one frame, and at least 1 MiB if the array has as much; limited by the memory.
std::vector<std::int64_t> aligned_chunks(const ArrayHeader& source, const MovedAxes& axes,
                                         std::span<const std::int64_t> lengths, Sample sample,
                                         const AlignOptions& options);

/// Aligns frames of an array, or adds them up, in blocks of rows and of the axes that are carried
/// along. Blocks that consist of the fill value of the source are neither read nor, if their result
/// is the fill value of a new sink, written.
///
/// Input     `axes.frame` and frames whose positions exist; or one frame without this axis.
/// Output    every sample of the sink, whose lengths are aligned_lengths(). Not committed.
/// Requires  frames of at least 2 x 2 pixels; memory for one row of chunks; sums, and values
///           of a floating-point type, that the type of the sink can hold (InvalidTask). Integers
///           that are shifted to integers are added as 64-bit integers. Integers of 64 bits are
///           interpolated without rounding them to f64 first.
/// Throws    as the source and the sink; Cancelled.
/// Cost      each sample is read about once; a chunk of the source is decoded about once if the
///           chunks that rows of the result need fit in its cache.
/// Deterministic  The bits do not depend on threads or memory.
AlignResult align_array(ArraySource& source, const MovedAxes& axes,
                        std::span<const MovedFrame> frames, const TransformOf& transform_of,
                        ArraySink& sink, const AlignOptions& options, Team* team = nullptr,
                        const RunControl& control = {});

} // namespace sextant::registration
