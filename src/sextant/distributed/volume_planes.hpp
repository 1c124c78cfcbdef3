// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/frame_source.hpp"
#include "sextant/kernel/label/bodies.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace sextant::distributed {

/// Planes of a volume, read from the frames of a series, in a type that kernels take: for
/// comparison (signed integers as their bit patterns, f16 as f32), or for computation (signed
/// integers of up to 16 bits as f32, longer ones as f64).
class VolumePlanes {
  public:
    enum class Use { comparison, computation };

    /// Throws InvalidTask unless the series is grey and not empty.
    VolumePlanes(FrameSource& source, Use use);

    const kernel::VolumeShape& shape() const { return shape_; }
    /// Bytes per voxel in memory, including those for conversion.
    Bytes bytes_per_voxel() const;

    /// Reads planes, which replace those read before. NaN become 0 for comparison; returns their
    /// number.
    Elements read(Elements first, Elements count);
    /// A view of planes that have been read; `first` counts from the first of these.
    kernel::ValueView view(Elements first, Elements count) const;

  private:
    FrameSource& source_;
    Use use_;
    kernel::VolumeShape shape_;
    Sample stored_, kept_; // types in the file and in memory
    Memory planes_;
    std::vector<std::byte> plane_; // as stored, before conversion
};

} // namespace sextant::distributed
