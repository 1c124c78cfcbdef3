// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/average.hpp"

#include "sextant/kernel/rigid_map.hpp"
#include "sextant/registration/level.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>

namespace sextant::registration {

Average::Average(ImageShape shape)
    : warped_(shape),
      sums_(static_cast<std::size_t>(shape.elements())),
      counts_(static_cast<std::size_t>(shape.elements())) {}

void Average::add(const kernel::FloatImage& frame, const RigidMotion& motion) {
    if (frame.shape != shape())
        throw std::logic_error("a frame added to an average of another shape");
    const kernel::RigidMap map = map_of(motion, centre(shape()));
    kernel::warp(frame, map, 0, shape(), warped_.plane());
    for (Elements y = 0; y < shape().height; ++y) {
        const float* const row = warped_.image().row(y);
        const auto [first, last] = kernel::columns_inside(map, y, {0, shape().width}, frame.shape);
        for (Elements x = first; x < last; ++x) {
            sums_[place(x, y)] += static_cast<double>(row[x]);
            ++counts_[place(x, y)];
        }
    }
}

void Average::add(const Average& other) {
    if (other.shape() != shape())
        throw std::logic_error("averages of different shapes added");
    std::transform(sums_.begin(), sums_.end(), other.sums_.begin(), sums_.begin(), std::plus<>());
    std::transform(counts_.begin(), counts_.end(), other.counts_.begin(), counts_.begin(),
                   std::plus<>());
}

kernel::FloatPlane Average::mean() const {
    kernel::FloatPlane plane(shape());
    for (Elements y = 0; y < shape().height; ++y) {
        for (Elements x = 0; x < shape().width; ++x) {
            const std::size_t at = place(x, y);
            if (counts_[at] > 0)
                plane.row(y)[x] = static_cast<float>(sums_[at] / counts_[at]);
        }
    }
    return plane;
}

} // namespace sextant::registration
