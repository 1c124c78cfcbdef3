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

// Applies motions to arrays with any number of axes. Every channel, slice, spectrum or diffraction
// pattern moves with its pixel.
namespace sextant::registration {

/// The axes of an array that motions refer to; all other axes are carried along. `column` follows
/// `row`. The frame axis, if there is one, is before both.
struct MovedAxes {
    std::optional<std::size_t> frame;
    std::size_t row = 0, column = 1;
};

/// A frame's position in the array, and the number of the registered frame whose motion applies.
struct MovedFrame {
    std::int64_t position = 0, registered = 0;
};

struct AlignOptions {
    AlignBy by = AlignBy::bilinear;
    bool sum = false;              ///< sum the aligned frames; pixels outside a frame add nothing
    PixelArea area;                ///< area of the result, in the coordinates of the reference
    double gap = 0;                ///< sample where a frame has no data
    std::int64_t flyback = 0;      ///< number of columns at the left edge that are gaps
    Bytes memory = Bytes{1} << 30; ///< memory for buffers, excluding the cache of the source
    /// True if the sink already holds samples, so that every sample must be written.
    bool overwrites = false;
};

struct AlignResult {
    double total = 0;    ///< splat: the sum of all samples of the frames
    double outside = 0;  ///< splat: the part of `total` that fell outside the area
    double farthest = 0; ///< shift: largest distance of a pixel from its exact position
    /// The number of nonzero values that became 0 when stored as floating-point samples.
    Elements vanished = 0;
    /// The number of samples in which differences of 1 are lost: integers, or integer parts of
    /// results interpolated from 32-bit or 64-bit integers, that the result type (or the double
    /// that holds a sum) cannot represent. With `shift`, samples that are rounded to a smaller
    /// floating-point type also count. With the other methods, they count only if the source has
    /// f64 samples that differ by less than the resolution of floats (offset_of()).
    Elements rounded = 0;
    /// The number of values beyond the range of an integer result type that differs from the type
    /// of the data.
    Elements clamped = 0;
    /// For sums: the number of contributing frames per pixel of the area; for splat, the sum of
    /// their weights.
    std::vector<float> count;
};

/// Returns the lengths of the result: those of the source, with the area's height and width. Sums
/// have no frame axis.
std::vector<std::int64_t> aligned_lengths(const ArrayHeader& source, const MovedAxes& axes,
                                          std::int64_t frames, const AlignOptions& options);

/// Returns the chunk lengths of a result: one frame, and the source's chunk lengths along the other
/// axes, enlarged to about 1 MiB per chunk if the array is that large. The memory limits the
/// lengths.
std::vector<std::int64_t> aligned_chunks(const ArrayHeader& source, const MovedAxes& axes,
                                         std::span<const std::int64_t> lengths, Sample sample,
                                         const AlignOptions& options);

/// Aligns or sums frames of an array, in blocks of rows and of the carried axes. Blocks that
/// contain only the source's fill value are not read. They are not written either, if the result
/// equals the fill value of a new sink.
///
/// Input     `axes.frame` and frames at existing positions; or a single frame if there is no frame
///           axis.
/// Output    every sample of the sink, whose lengths are aligned_lengths(). The sink is not
///           committed.
/// Requires  frames of at least 2 x 2 pixels; memory for one row of chunks. Sums and floating-point
///           values must be representable in the sink's sample type (InvalidTask). Integers that
///           are shifted to integers are summed as 64-bit integers. 64-bit integers are
///           interpolated without first rounding them to f64.
/// Throws    the same exceptions as the source and the sink; Cancelled.
/// Cost      each sample is read about once. Each chunk of the source is decoded about once if the
///           source's cache holds the chunks that a row of blocks needs.
/// Deterministic  the bits do not depend on threads or memory.
AlignResult align_array(ArraySource& source, const MovedAxes& axes,
                        std::span<const MovedFrame> frames, const TransformOf& transform_of,
                        ArraySink& sink, const AlignOptions& options, Team* team = nullptr,
                        const RunControl& control = {});

} // namespace sextant::registration
