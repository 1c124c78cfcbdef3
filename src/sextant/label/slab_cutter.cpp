// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/label/slab_cutter.hpp"

#include "sextant/core/error.hpp"

#include <utility>

#include <fmt/format.h>

namespace sextant::label {

using kernel::VolumeBox;

SlabCutter::SlabCutter(const VolumeBox& part, std::function<Bytes(const VolumeBox&)> bytes_of,
                       Bytes memory)
    : part_(part),
      bytes_of_(std::move(bytes_of)),
      memory_(memory),
      z_(part.low[0]),
      y_(part.low[1]) {}

/// The largest side of a box along an axis that fits, from 0 to its present side.
Elements SlabCutter::most_that_fit(VolumeBox box, std::size_t axis) const {
    Elements fits = 0, too_many = box.side(axis) + 1;
    while (too_many - fits > 1) {
        const Elements side = fits + (too_many - fits) / 2;
        box.high[axis] = box.low[axis] + side;
        (bytes_of_(box) <= memory_ ? fits : too_many) = side;
    }
    return fits;
}

std::optional<VolumeBox> SlabCutter::next() {
    if (part_.empty() || z_ == part_.high[0])
        return std::nullopt;
    VolumeBox slab = part_;
    slab.low[0] = z_;
    if (y_ == part_.low[1]) {
        if (const Elements planes = most_that_fit(slab, 0); planes > 0) {
            z_ += planes;
            slab.high[0] = z_;
            return slab;
        }
    }
    slab.high[0] = z_ + 1;
    slab.low[1] = y_;
    const Elements rows = most_that_fit(slab, 1);
    if (rows == 0) {
        slab.high[1] = y_ + 1;
        throw InvalidTask(fmt::format("memory: {} bytes for each rank are too few, expected {} or "
                                      "more for a row of {} voxels",
                                      memory_, bytes_of_(slab), part_.side(2)));
    }
    y_ += rows;
    slab.high[1] = y_;
    if (y_ == part_.high[1]) {
        y_ = part_.low[1];
        ++z_;
    }
    return slab;
}

} // namespace sextant::label
