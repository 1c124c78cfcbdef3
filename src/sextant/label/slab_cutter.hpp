// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/kernel/label/block_cover.hpp"

#include <functional>
#include <optional>

namespace sextant::label {

/// Cuts a part of a volume, one slab after another, into slabs of planes that fit in memory; where
/// a plane does not fit, into strips of its rows.
class SlabCutter {
  public:
    /// `bytes_of`: the memory for a slab, which grows with the slab; `memory`: the limit.
    SlabCutter(const kernel::VolumeBox& part,
               std::function<Bytes(const kernel::VolumeBox& slab)> bytes_of, Bytes memory);

    /// The next slab, in the order of voxels, as large as fits; nothing after the last.
    /// Throws InvalidTask, naming the memory, if it cannot hold a row.
    std::optional<kernel::VolumeBox> next();

  private:
    Elements most_that_fit(kernel::VolumeBox box, std::size_t axis) const;

    kernel::VolumeBox part_;
    std::function<Bytes(const kernel::VolumeBox&)> bytes_of_;
    Bytes memory_;
    Elements z_, y_; // the first row that is not in a slab yet
};

} // namespace sextant::label
