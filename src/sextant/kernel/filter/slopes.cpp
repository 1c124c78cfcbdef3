// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/filter/slopes.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace sextant::kernel {

namespace {

constexpr float unknown = std::numeric_limits<float>::quiet_NaN();

float slope(float two_before, float before, float after, float two_after) {
    return (8 * (after - before) - (two_after - two_before)) * (1.f / 12);
}

} // namespace

void slopes(const FloatImage& image, FloatPlane& along_x, FloatPlane& along_y) {
    slopes_of_rows(image, 0, image.shape.height, along_x, along_y);
}

void slopes_of_rows(const FloatImage& image, Elements first, Elements last, FloatPlane& along_x,
                    FloatPlane& along_y) {
    const auto [width, height] = image.shape;
    if (along_x.shape() != image.shape || along_y.shape() != image.shape)
        throw std::logic_error("planes for slopes have another shape than their image");
    for (Elements y = first; y < last; ++y) {
        float* const to_x = along_x.row(y);
        float* const to_y = along_y.row(y);
        const bool known = y >= slope_reach && y < height - slope_reach;
        const Elements begin = known ? std::min(slope_reach, width) : 0;
        const Elements end = known ? std::max(width - slope_reach, begin) : 0;
        std::fill(to_x, to_x + begin, unknown);
        std::fill(to_y, to_y + begin, unknown);
        const float* const row = image.row(y);
        for (Elements x = begin; x < end; ++x) {
            to_x[x] = slope(row[x - 2], row[x - 1], row[x + 1], row[x + 2]);
            to_y[x] = slope(row[x - 2 * image.stride], row[x - image.stride], row[x + image.stride],
                            row[x + 2 * image.stride]);
        }
        std::fill(to_x + end, to_x + along_x.image().stride, unknown);
        std::fill(to_y + end, to_y + along_y.image().stride, unknown);
    }
}

} // namespace sextant::kernel
