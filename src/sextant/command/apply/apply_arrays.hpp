// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/array_source.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/series/transforms.hpp"
#include "sextant/registration/transform/array_alignment.hpp"

#include <memory>
#include <string>
#include <vector>

// Transforms applied to arrays with any number of axes.
namespace sextant::command {

/// The options of `sextant apply` for images and arrays.
struct ImageChoice {
    registration::AlignBy by = registration::AlignBy::bilinear;
    bool sum = false, pyramid = false;
    std::string count;  ///< file for the number of frames per pixel; "": none
    std::string sample; ///< sample type; "": default
    Bytes memory = Bytes{1} << 30;
    int zarr = 3; ///< Zarr version of a store to write
};
/// Declares `--by`, `--sum`, `--count`, `--sample`, `--memory`, `--pyramid`, `--zarr`.
Record record_of(ImageChoice& choice);

/// The number of threads of `apply`: one per available core.
int threads_of_apply();

/// An array whose frames are aligned; only one channel, slice or time of the array if requested.
class AlignedArray {
  public:
    /// Opens the array and finds its axes. Throws InvalidFile, InvalidTask.
    AlignedArray(const SourceChoice& source, const ImageChoice& choice,
                 AppliedTransforms& transforms, const std::string& output);

    const ArraySource& array() const { return *array_; }
    /// Returns true if the frames are images without further axes that a FrameSource can
    /// interpolate: colour images, or samples that f32 can represent.
    bool is_plain_series() const;
    /// Returns true if the frames are slices.
    bool has_slices() const;
    /// Returns the distance between slices of the result; 0 if unknown.
    double slice_distance() const;
    /// Returns the sample type of the result.
    Sample sample() const { return sample_; }

    /// Writes the result and, if requested, the number of frames per pixel. Returns a text that
    /// describes the result.
    std::string run();

  private:
    void choose_axes();
    void choose_sample();
    double lost_offset() const;
    void require_resolution() const;
    ArrayHeader header_of_result() const;
    std::vector<std::int64_t> positions() const;

    SourceChoice source_;
    ImageChoice choice_;
    AppliedTransforms& transforms_;
    std::string output_;
    std::unique_ptr<ArraySource> array_;
    registration::MovedAxes axes_;
    std::vector<registration::MovedFrame> frames_;
    registration::AlignOptions options_;
    Sample sample_ = Sample::f32;
    bool several_axes_unnamed_ = false;
};

} // namespace sextant::command
