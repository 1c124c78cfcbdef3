// SPDX-License-Identifier: BSD-3-Clause
// Bilinear samples in vectors, compiled for one kind of processor after another. Include this file
// in place of lanes-inl.hpp, which it includes; hence no `#pragma once`.
#include "sextant/kernel/fit/rigid_map.hpp"
#include "sextant/kernel/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernel::HWY_NAMESPACE {

using Integers = hn::RebindToSigned<Floats>;
using IntegerVector = hn::Vec<Integers>;

/// The four samples around each of a vector of positions, and the positions between them.
struct Cells {
    FloatVector upper_left, upper_right, lower_left, lower_right;
    FloatVector right, down; ///< from the upper left: within [0, 1]
};

/// As `floor`, without calling it (see lanes-inl.hpp).
HWY_INLINE Elements whole_part(double value) {
    const auto truncated = static_cast<Elements>(value);
    return truncated - (static_cast<double>(truncated) > value ? 1 : 0);
}

/// The cells that hold the positions of pixels `column`, column + 1 ... of a row; cells at the
/// right and lower border are those of the last four samples. Positions are floats relative to the
/// cell of the first, so they stay exact however large the image. Pixels beyond those asked for may
/// have any position; they get cells inside the image too.
HWY_INLINE Cells cells_at(const FloatImage& image, const RigidMap& map, Elements column,
                          Elements row) {
    const Floats d;
    const Integers integers;
    const double i = static_cast<double>(column), j = static_cast<double>(row);
    const double x = map.x + map.cosine * i - map.sine * j;
    const double y = map.y + map.sine * i + map.cosine * j;
    const Elements left = whole_part(x), top = whole_part(y);

    const auto steps = hn::Iota(d, 0.0f);
    const auto right = hn::Add(hn::Set(d, static_cast<float>(x - static_cast<double>(left))),
                               hn::Mul(steps, hn::Set(d, static_cast<float>(map.cosine))));
    const auto down = hn::Add(hn::Set(d, static_cast<float>(y - static_cast<double>(top))),
                              hn::Mul(steps, hn::Set(d, static_cast<float>(map.sine))));
    const auto within = [&](FloatVector place, Elements first, Elements size) HWY_ATTR {
        const auto cell = hn::ConvertTo(integers, hn::Floor(place));
        const auto least = hn::Set(integers, static_cast<std::int32_t>(-first));
        const auto most = hn::Set(integers, static_cast<std::int32_t>(size - 2 - first));
        return hn::Max(least, hn::Min(cell, most));
    };
    const auto cell_x = within(right, left, image.shape.width);
    const auto cell_y = within(down, top, image.shape.height);
    const auto stride = hn::Set(integers, static_cast<std::int32_t>(image.stride));
    const auto index = hn::Add(cell_x, hn::Mul(cell_y, stride));

    Cells cells;
    cells.right = hn::Sub(right, hn::ConvertTo(d, cell_x));
    cells.down = hn::Sub(down, hn::ConvertTo(d, cell_y));
    const float* const upper = image.first + top * image.stride + left;
    const float* const lower = upper + image.stride;
    const std::int32_t first = hn::GetLane(index);
    if (hn::AllTrue(integers, hn::Eq(index, hn::Iota(integers, first)))) {
        cells.upper_left = hn::LoadU(d, upper + first);
        cells.upper_right = hn::LoadU(d, upper + first + 1);
        cells.lower_left = hn::LoadU(d, lower + first);
        cells.lower_right = hn::LoadU(d, lower + first + 1);
    } else {
        cells.upper_left = hn::GatherIndex(d, upper, index);
        cells.upper_right = hn::GatherIndex(d, upper + 1, index);
        cells.lower_left = hn::GatherIndex(d, lower, index);
        cells.lower_right = hn::GatherIndex(d, lower + 1, index);
    }
    return cells;
}

HWY_INLINE FloatVector interpolated(const Cells& cells) {
    const auto upper = hn::Add(cells.upper_left,
                               hn::Mul(cells.right, hn::Sub(cells.upper_right, cells.upper_left)));
    const auto lower = hn::Add(cells.lower_left,
                               hn::Mul(cells.right, hn::Sub(cells.lower_right, cells.lower_left)));
    return hn::Add(upper, hn::Mul(cells.down, hn::Sub(lower, upper)));
}

} // namespace sextant::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
