// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/fit/rigid_map.hpp"

#include <algorithm>
#include <cmath>

namespace sextant::kernel {

namespace {

/// Narrows columns to those whose position, `start` + `slope` · column, is within [0, end].
Columns narrowed(Columns columns, double start, double slope, double end) {
    if (slope == 0)
        return start >= 0 && start <= end ? columns : Columns{columns.first, columns.first};
    const double one = -start / slope, other = (end - start) / slope;
    const double low = std::ceil(std::min(one, other)), high = std::floor(std::max(one, other));
    const auto clamped = [&](double at) {
        return std::clamp(at, static_cast<double>(columns.first),
                          static_cast<double>(columns.last));
    };
    const auto first = static_cast<Elements>(clamped(low));
    return {first, std::max(first, static_cast<Elements>(clamped(high + 1)))};
}

} // namespace

Columns columns_inside(const RigidMap& map, Elements row, Columns columns, ImageShape image) {
    const auto j = static_cast<double>(row);
    const Columns within_width =
        narrowed(columns, map.x - map.sine * j, map.cosine, static_cast<double>(image.width - 1));
    return narrowed(within_width, map.y + map.cosine * j, map.sine,
                    static_cast<double>(image.height - 1));
}

double bilinear(const FloatImage& image, double x, double y) {
    const Elements left =
        std::clamp<Elements>(static_cast<Elements>(std::floor(x)), 0, image.shape.width - 2);
    const Elements top =
        std::clamp<Elements>(static_cast<Elements>(std::floor(y)), 0, image.shape.height - 2);
    const double u = x - static_cast<double>(left), v = y - static_cast<double>(top);
    const auto sample = [&](Elements i, Elements j) {
        return static_cast<double>(image.at(left + i, top + j));
    };
    const double upper = sample(0, 0) + u * (sample(1, 0) - sample(0, 0));
    const double lower = sample(0, 1) + u * (sample(1, 1) - sample(0, 1));
    return upper + v * (lower - upper);
}

} // namespace sextant::kernel
