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

// Chooses the axes of an array and the sample type of the result before alignment.
namespace sextant::registration {

/// Requested positions along the axes c, z and t.
struct ArrayChoice {
    std::optional<std::int64_t> channel, slice, time;
    bool single_frame = false; ///< true if the array is a single frame
};

/// An array without the axes along which a single position was requested, and its moved axes.
struct ChosenArray {
    std::unique_ptr<ArraySource> array;
    MovedAxes axes;
};

/// Finds the axes of frames (t), rows (y) and columns (x). Slices (z) are the frames if the array
/// has a single time or a time is requested. Unnamed axes are y and x, or t, y and x.
///
/// Throws  InvalidFile, naming the axes, if y and x are not adjacent, if they do not follow the
///         frames, or if a requested position does not exist; InvalidTask if a single frame has
///         several times.
ChosenArray choose_axes(std::unique_ptr<ArraySource> array, const ArrayChoice& choice);

/// The values of the option `by`.
std::vector<Named<AlignBy>> align_by_names();

/// Returns the default sample type of a result: the type of the data. For sums and splats: f64 for
/// f64 and for 32-bit and 64-bit integers, otherwise f32; for sums of shifted integers: u64 or i64.
/// Of the options, only `by` and `sum` matter.
Sample usual_sample(Sample data, const AlignOptions& options);
/// Returns the default sample where a frame has no data: 0 for integers, sums and splats, otherwise
/// NaN.
double usual_gap(Sample sample, const AlignOptions& options = {});

/// Returns a remark that states how many samples of a result are rounded or clamped (AlignResult);
/// "" if there are none.
std::string remark_on_rounding(const AlignResult& result, Sample data, Sample sample,
                               const AlignOptions& options);

/// Returns names and lengths of axes, such as "t 8 × y 256 × x 256 × energy 1024".
std::string axes_text(const ArrayHeader& header);
/// Returns example names for a number of axes.
std::string example_of_axes(std::size_t axes);

} // namespace sextant::registration
