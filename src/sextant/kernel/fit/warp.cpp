// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/fit/rigid_map.hpp"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/kernel/fit/warp.cpp"
#include "sextant/kernel/fit/bilinear-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernel::HWY_NAMESPACE {

void warp_row(const FloatImage& image, const RigidMap& map, Elements row, const Columns& columns,
              float* to) {
    constexpr Elements lanes = hn::MaxLanes(Floats());
    for (Elements x = columns.first; x < columns.last; x += lanes) {
        const auto samples = interpolated(cells_at(image, map, x, row));
        if (x + lanes <= columns.last) {
            hn::StoreU(samples, Floats(), to + x);
            continue;
        }
        HWY_ALIGN float last[lanes];
        hn::Store(samples, Floats(), last);
        std::memcpy(to + x, last, static_cast<std::size_t>(columns.last - x) * sizeof(float));
    }
}

} // namespace sextant::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernel {

HWY_EXPORT(warp_row);

void warp(const FloatImage& image, const RigidMap& map, float outside, ImageShape shape, Plane to) {
    warp_rows(image, map, outside, shape, 0, shape.height, to);
}

void warp_rows(const FloatImage& image, const RigidMap& map, float outside, ImageShape shape,
               Elements first, Elements last, Plane to) {
    for (Elements y = first; y < last; ++y) {
        float* const row = to.first + y * to.stride;
        const Columns inside = columns_inside(map, y, {0, shape.width}, image.shape);
        std::fill(row, row + inside.first, outside);
        HWY_DYNAMIC_DISPATCH(warp_row)(image, map, y, inside, row);
        std::fill(row + inside.last, row + shape.width, outside);
    }
}

} // namespace sextant::kernel
#endif
