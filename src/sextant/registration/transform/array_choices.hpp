// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/array_source.hpp"
#include "sextant/core/record.hpp"
#include "sextant/registration/transform/array_alignment.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// Choices before an array is aligned: its axes, and the samples of the result.
namespace sextant::registration {

/// Positions that are requested along the axes c, z and t.
struct ArrayChoice {
    std::optional<std::int64_t> channel, slice, time;
    bool single_frame = false; ///< the array is one frame
};

/// An array without the axes of which one position is requested, and its moved axes.
struct ChosenArray {
    std::unique_ptr<ArraySource> array;
    MovedAxes axes;
};

/// Finds frames (t), rows (y) and columns (x). Slices (z) are the frames if there is a single time
/// or one is requested. The axes of an array without names are y and x, or t, y and x.
///
/// Throws  InvalidFile, naming the axes, unless y and x follow one another after the frames, or if
///         a requested position does not exist; InvalidTask if a single frame has several times.
ChosenArray choose_axes(std::unique_ptr<ArraySource> array, const ArrayChoice& choice);

/// The values of an option `by`.
std::vector<Named<AlignBy>> align_by_names();

/// The samples of a result unless others are requested: those of the data; for sums and splats f32,
/// or f64 of f64 and of integers of 32 and 64 bits; for sums of shifted integers u64 or i64.
/// Depends on `by` and `sum`.
Sample usual_sample(Sample data, const AlignOptions& options);
/// The sample where a frame has no data: 0 for integers, sums and splats, otherwise NaN.
double usual_gap(Sample sample, const AlignOptions& options = {});

/// Says how many samples of a result are rounded or clamped (AlignResult), or "" if none is.
std::string remark_on_rounding(const AlignResult& result, Sample data, Sample sample,
                               const AlignOptions& options);

/// Names and lengths of axes: "t 8 × y 256 × x 256 × energy 1024".
std::string axes_text(const ArrayHeader& header);
/// An example of names for so many axes.
std::string example_of_axes(std::size_t axes);

} // namespace sextant::registration
