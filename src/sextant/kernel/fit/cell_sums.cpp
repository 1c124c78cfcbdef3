// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/fit/cell_sums.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/kernel/fit/cell_sums.cpp"
#include "sextant/kernel/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernel::HWY_NAMESPACE {

/// Vectors of pixels in one row of a cell.
using Run = hn::CappedTag<float, static_cast<std::size_t>(cell_size)>;
using RunVector = hn::Vec<Run>;
using Whole = hn::RebindToSigned<Run>;
constexpr Elements run = hn::MaxLanes(Run());
static_assert(cell_size % run == 0);

struct CellVectors {
    RunVector count, xx, xy, yy, x, y;
};
struct MomentVectors {
    RunVector r, t, rr, tt, rt;
};

/// The displacement at the left and right end of a row of a cell.
struct Ends {
    float left, right;
};

HWY_INLINE Ends ends(const float* upper, const float* lower, float down) {
    return {upper[0] + down * (lower[0] - upper[0]), upper[1] + down * (lower[1] - upper[1])};
}

HWY_INLINE RunVector between(Ends u, RunVector share) {
    const Run d;
    return hn::Add(hn::Set(d, u.left), hn::Mul(share, hn::Set(d, u.right - u.left)));
}

HWY_INLINE hn::Mask<Run> within(RunVector place, Elements first, Elements size) {
    const Run d;
    return hn::And(hn::Ge(place, hn::Set(d, static_cast<float>(-first))),
                   hn::Le(place, hn::Set(d, static_cast<float>(size - 1 - first))));
}

/// The first of the two samples around each position, clamped so that both are in the image.
/// Indices and positions have the same origin; the image's first sample has index −first.
HWY_INLINE hn::Vec<Whole> sample_before(RunVector place, Elements first, Elements size) {
    const Whole integers;
    const auto least = hn::Set(integers, static_cast<std::int32_t>(-first));
    const auto most = hn::Set(integers, static_cast<std::int32_t>(size - 2 - first));
    return hn::Max(least, hn::Min(hn::ConvertTo(integers, hn::Floor(place)), most));
}

/// Samples T bilinearly at positions relative to pixel (left, top).
HWY_INLINE RunVector sampled(const FloatImage& image, Elements left, Elements top, RunVector right,
                             RunVector down) {
    const Run d;
    const Whole integers;
    const auto column = sample_before(right, left, image.shape.width);
    const auto row = sample_before(down, top, image.shape.height);
    const auto stride = hn::Set(integers, static_cast<std::int32_t>(image.stride));
    const auto index = hn::Add(column, hn::Mul(row, stride));
    const float* const upper = image.first + top * image.stride + left;
    const float* const lower = upper + image.stride;
    RunVector a, b, e, f;
    const std::int32_t first = hn::GetLane(index);
    if (hn::AllTrue(integers, hn::Eq(index, hn::Iota(integers, first)))) {
        a = hn::LoadU(d, upper + first);
        b = hn::LoadU(d, upper + first + 1);
        e = hn::LoadU(d, lower + first);
        f = hn::LoadU(d, lower + first + 1);
    } else {
        a = hn::GatherIndex(d, upper, index);
        b = hn::GatherIndex(d, upper + 1, index);
        e = hn::GatherIndex(d, lower, index);
        f = hn::GatherIndex(d, lower + 1, index);
    }
    const auto share_x = hn::Sub(right, hn::ConvertTo(d, column));
    const auto share_y = hn::Sub(down, hn::ConvertTo(d, row));
    const auto above = hn::Add(a, hn::Mul(share_x, hn::Sub(b, a)));
    const auto below = hn::Add(e, hn::Mul(share_x, hn::Sub(f, e)));
    return hn::Add(above, hn::Mul(share_y, hn::Sub(below, above)));
}

/// Adds the pixels at columns x … x + run − 1 of row y, with positions relative to (x, y).
HWY_INLINE void add_run(const CellComparison& comparison, Elements x, Elements y, RunVector right,
                        RunVector down, CellVectors& cell, MomentVectors& moments) {
    const Run d;
    const ImageShape shape = comparison.moved.shape;
    const auto inside = hn::And(within(right, x, shape.width), within(down, y, shape.height));
    const auto t = sampled(comparison.moved, x, y, right, down);
    const auto r = hn::LoadU(d, comparison.reference.first + y * comparison.reference.stride + x);
    const auto dx = hn::LoadU(d, comparison.slope_x.first + y * comparison.slope_x.stride + x);
    const auto dy = hn::LoadU(d, comparison.slope_y.first + y * comparison.slope_y.stride + x);
    const auto e =
        hn::Sub(hn::Add(hn::Mul(hn::Set(d, comparison.gain), t), hn::Set(d, comparison.offset)), r);
    const auto counts = hn::AndNot(hn::IsNaN(hn::Add(e, hn::Add(dx, dy))), inside);
    const auto taken = [&](RunVector v) HWY_ATTR { return hn::IfThenElseZero(counts, v); };
    cell.count = hn::Add(cell.count, taken(hn::Set(d, 1.0f)));
    cell.xx = hn::Add(cell.xx, taken(hn::Mul(dx, dx)));
    cell.xy = hn::Add(cell.xy, taken(hn::Mul(dx, dy)));
    cell.yy = hn::Add(cell.yy, taken(hn::Mul(dy, dy)));
    cell.x = hn::Add(cell.x, taken(hn::Mul(e, dx)));
    cell.y = hn::Add(cell.y, taken(hn::Mul(e, dy)));
    moments.r = hn::Add(moments.r, taken(r));
    moments.t = hn::Add(moments.t, taken(t));
    moments.rr = hn::Add(moments.rr, taken(hn::Mul(r, r)));
    moments.tt = hn::Add(moments.tt, taken(hn::Mul(t, t)));
    moments.rt = hn::Add(moments.rt, taken(hn::Mul(r, t)));
}

HWY_INLINE float total(RunVector v) {
    return hn::GetLane(hn::SumOfLanes(Run(), v));
}

HWY_INLINE CellSums sums_of_cell(const CellComparison& comparison, Elements column, Elements row,
                                 Elements corners, MomentVectors& moments) {
    const Run d;
    const auto zero = hn::Zero(d);
    CellVectors cell{zero, zero, zero, zero, zero, zero};
    const Elements left = column * cell_size, top = row * cell_size;
    const Elements below = comparison.reference.shape.height - top;
    const Elements rows = below < cell_size ? below : cell_size;
    const Elements corner = row * corners + column;
    const float* const u_x = comparison.u_x + corner;
    const float* const u_y = comparison.u_y + corner;
    constexpr float unit = 1.0f / static_cast<float>(cell_size);
    for (Elements j = 0; j < rows; ++j) {
        const float down = static_cast<float>(j) * unit;
        const Ends ends_x = ends(u_x, u_x + corners, down);
        const Ends ends_y = ends(u_y, u_y + corners, down);
        for (Elements i = 0; i < cell_size; i += run) {
            const auto steps = hn::Iota(d, 0.0f);
            const auto share =
                hn::Mul(hn::Add(steps, hn::Set(d, static_cast<float>(i))), hn::Set(d, unit));
            add_run(comparison, left + i, top + j, hn::Add(steps, between(ends_x, share)),
                    between(ends_y, share), cell, moments);
        }
    }
    return {total(cell.count), total(cell.xx), total(cell.xy),
            total(cell.yy),    total(cell.x),  total(cell.y)};
}

FitMoments cell_sums(const CellComparison& comparison, Elements row_of_cells, CellSums* to) {
    const auto zero = hn::Zero(Run());
    MomentVectors moments{zero, zero, zero, zero, zero};
    const Elements cells = (comparison.reference.shape.width + cell_size - 1) / cell_size;
    float count = 0;
    for (Elements column = 0; column < cells; ++column) {
        to[column] = sums_of_cell(comparison, column, row_of_cells, cells + 1, moments);
        count += to[column].count;
    }
    const auto wide = [](RunVector v) HWY_ATTR { return static_cast<double>(total(v)); };
    return {static_cast<double>(count), wide(moments.r),  wide(moments.t),
            wide(moments.rr),           wide(moments.tt), wide(moments.rt)};
}

} // namespace sextant::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernel {

HWY_EXPORT(cell_sums);

FitMoments& FitMoments::operator+=(const FitMoments& other) {
    count += other.count;
    r += other.r;
    t += other.t;
    rr += other.rr;
    tt += other.tt;
    rt += other.rt;
    return *this;
}

FitMoments cell_sums(const CellComparison& comparison, Elements row_of_cells,
                     std::span<CellSums> to) {
    return HWY_DYNAMIC_DISPATCH(cell_sums)(comparison, row_of_cells, to.data());
}

} // namespace sextant::kernel
#endif
