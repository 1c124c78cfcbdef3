// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/fit/rigid_map.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/kernel/fit/rigid_sums.cpp"
#include "sextant/kernel/fit/bilinear-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernel::HWY_NAMESPACE {

/// Vectors for three parameters, and for their symmetric matrices.
struct Three {
    FloatVector at[3];
};
struct Six {
    FloatVector at[6];
};

/// One vector per sum.
struct Lanes {
    FloatVector count, r, t, rr, tt, rt;
    Three j, jr, jt;
    Six jj, jd;
};

HWY_INLINE Three no_three() {
    const auto zero = hn::Zero(Floats());
    return {{zero, zero, zero}};
}

HWY_INLINE Six no_six() {
    const auto zero = hn::Zero(Floats());
    return {{zero, zero, zero, zero, zero, zero}};
}

HWY_INLINE Lanes no_lanes() {
    const auto zero = hn::Zero(Floats());
    return {zero,       zero,       zero,       zero,     zero,    zero,
            no_three(), no_three(), no_three(), no_six(), no_six()};
}

HWY_INLINE void add(FloatVector& sum, FloatVector a, FloatVector b) {
    sum = hn::MulAdd(a, b, sum);
}

HWY_INLINE void add(Three& sum, const Three& a, FloatVector b) {
    for (int k = 0; k < 3; ++k)
        add(sum.at[k], a.at[k], b);
}

/// The derivative by (α, t_x, t_y) from that by position, at (x, y) from the centre.
HWY_INLINE Three by_motion(FloatVector along_x, FloatVector along_y, FloatVector x, FloatVector y) {
    return {{hn::Sub(hn::Mul(along_y, x), hn::Mul(along_x, y)), along_x, along_y}};
}

/// Fourth-order central difference of samples `step` apart.
HWY_INLINE FloatVector slope(const float* at, Elements step) {
    const Floats d;
    const auto near = hn::Sub(hn::LoadU(d, at + step), hn::LoadU(d, at - step));
    const auto far = hn::Sub(hn::LoadU(d, at + 2 * step), hn::LoadU(d, at - 2 * step));
    return hn::Sub(hn::Mul(near, hn::Set(d, 8.0f / 12)), hn::Mul(far, hn::Set(d, 1.0f / 12)));
}

/// T's derivative by position, rotated to R's axes.
HWY_INLINE Three moved_by_motion(const Cells& cells, const RigidMap& map, FloatVector x,
                                 FloatVector y) {
    const Floats d;
    const auto upper = hn::Sub(cells.upper_right, cells.upper_left);
    const auto lower = hn::Sub(cells.lower_right, cells.lower_left);
    const auto left = hn::Sub(cells.lower_left, cells.upper_left);
    const auto twist = hn::Sub(lower, upper);
    const auto along_x = hn::MulAdd(cells.down, twist, upper);
    const auto along_y = hn::MulAdd(cells.right, twist, left);
    const auto cosine = hn::Set(d, static_cast<float>(map.cosine));
    const auto sine = hn::Set(d, static_cast<float>(map.sine));
    return by_motion(hn::MulAdd(cosine, along_x, hn::Mul(sine, along_y)),
                     hn::Sub(hn::Mul(cosine, along_y), hn::Mul(sine, along_x)), x, y);
}

/// Adds up to a vector of pixels, from `x` on. If there may be gaps, pixels are counted here too.
template <Detail detail, bool gaps>
HWY_INLINE void add_pixels(const RigidLook& look, Elements x, Elements y, Elements remaining,
                           Lanes& sums) {
    const Floats d;
    auto count = hn::FirstN(d, static_cast<std::size_t>(remaining));
    const float* const at = look.reference.first + y * look.reference.stride + x;
    const auto from_x = hn::Iota(d, static_cast<float>(static_cast<double>(x) - look.centre_x));
    const auto from_y = hn::Set(d, static_cast<float>(static_cast<double>(y) - look.centre_y));
    const Cells cells = cells_at(look.moved, look.map, x, y);

    const auto seen_r = hn::LoadU(d, at), seen_t = interpolated(cells);
    const auto along_x = slope(at, 1), along_y = slope(at, look.reference.stride);
    if constexpr (gaps) {
        const auto all = hn::Add(hn::Add(seen_r, seen_t), hn::Add(along_x, along_y));
        count = hn::AndNot(hn::IsNaN(all), count);
        sums.count = hn::Add(sums.count, hn::IfThenElseZero(count, hn::Set(d, 1.0f)));
    }
    // Pixels beyond the last one contribute 0: each sum has one of these three as a factor.
    const auto r = hn::IfThenElseZero(count, seen_r);
    const auto t = hn::IfThenElseZero(count, seen_t);
    const Three j = by_motion(hn::IfThenElseZero(count, along_x),
                              hn::IfThenElseZero(count, along_y), from_x, from_y);
    sums.r = hn::Add(sums.r, r);
    sums.t = hn::Add(sums.t, t);
    add(sums.rr, r, r);
    add(sums.tt, t, t);
    add(sums.rt, r, t);
    add(sums.j, j, hn::Set(d, 1.0f));
    add(sums.jr, j, r);
    add(sums.jt, j, t);
    if constexpr (detail != Detail::score) {
        for (int a = 0, k = 0; a < 3; ++a) {
            for (int b = a; b < 3; ++b, ++k)
                add(sums.jj.at[k], j.at[a], j.at[b]);
        }
    }
    if constexpr (detail == Detail::slopes) {
        Three moved = moved_by_motion(cells, look.map, from_x, from_y);
        if constexpr (gaps) {
            for (FloatVector& by : moved.at)
                by = hn::IfThenElseZero(count, by); // 0 times NaN is NaN
        }
        const auto half = hn::Set(d, 0.5f);
        for (int a = 0, k = 0; a < 3; ++a) {
            const auto half_j = hn::Mul(half, j.at[a]), half_d = hn::Mul(half, moved.at[a]);
            for (int b = a; b < 3; ++b, ++k) {
                add(sums.jd.at[k], half_j, moved.at[b]);
                add(sums.jd.at[k], half_d, j.at[b]);
            }
        }
    }
}

HWY_INLINE void put(const FloatVector& sum, double& to) {
    to += static_cast<double>(hn::GetLane(hn::SumOfLanes(Floats(), sum)));
}

HWY_INLINE void put(const Three& sums, double (&to)[3]) {
    for (int k = 0; k < 3; ++k)
        put(sums.at[k], to[k]);
}

HWY_INLINE void put(const Six& sums, double (&to)[6]) {
    for (int k = 0; k < 6; ++k)
        put(sums.at[k], to[k]);
}

HWY_INLINE void put(const Lanes& sums, RigidSums& to) {
    put(sums.count, to.count);
    put(sums.r, to.r);
    put(sums.t, to.t);
    put(sums.rr, to.rr);
    put(sums.tt, to.tt);
    put(sums.rt, to.rt);
    put(sums.j, to.j);
    put(sums.jr, to.jr);
    put(sums.jt, to.jt);
    put(sums.jj, to.jj);
    put(sums.jd, to.jd);
}

/// The number of vectors summed in floats before their sums are added to doubles: few enough to
/// keep precision, enough to make the transfer cheap.
constexpr Elements run = 256;

template <Detail detail, bool gaps>
HWY_INLINE void add_tile(const RigidLook& look, const Tile& tile, RigidSums& to) {
    constexpr Elements lanes = hn::MaxLanes(Floats());
    Lanes sums = no_lanes();
    Elements vectors = 0;
    for (Elements y = tile.y; y < tile.y + tile.height; y += look.row_step) {
        const Columns columns =
            columns_inside(look.map, y, {tile.x, tile.x + tile.width}, look.moved.shape);
        if constexpr (!gaps)
            to.count += static_cast<double>(columns.last - columns.first);
        for (Elements x = columns.first; x < columns.last; x += lanes)
            add_pixels<detail, gaps>(look, x, y, columns.last - x, sums);
        vectors += (columns.last - columns.first) / lanes + 1;
        if (vectors >= run) {
            put(sums, to);
            sums = no_lanes();
            vectors = 0;
        }
    }
    put(sums, to);
}

template <bool gaps>
HWY_INLINE void add_tile(const RigidLook& look, const Tile& tile, Detail detail, RigidSums& to) {
    switch (detail) {
    case Detail::score:
        return add_tile<Detail::score, gaps>(look, tile, to);
    case Detail::matrix:
        return add_tile<Detail::matrix, gaps>(look, tile, to);
    case Detail::slopes:
        return add_tile<Detail::slopes, gaps>(look, tile, to);
    }
}

void add_sums(const RigidLook& look, const Tile& tile, Detail detail, RigidSums& to) {
    if (look.gaps)
        add_tile<true>(look, tile, detail, to);
    else
        add_tile<false>(look, tile, detail, to);
}

} // namespace sextant::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernel {

namespace {

template <std::size_t size>
void add_to(double (&sums)[size], const double (&others)[size]) {
    for (std::size_t k = 0; k < size; ++k)
        sums[k] += others[k];
}

} // namespace

HWY_EXPORT(add_sums);

RigidSums& RigidSums::operator+=(const RigidSums& other) {
    count += other.count;
    r += other.r;
    t += other.t;
    rr += other.rr;
    tt += other.tt;
    rt += other.rt;
    add_to(j, other.j);
    add_to(jr, other.jr);
    add_to(jt, other.jt);
    add_to(jj, other.jj);
    add_to(jd, other.jd);
    return *this;
}

Tile with_slopes(const Tile& tile, ImageShape reference) {
    constexpr Elements reach = 2;
    const Elements left = std::max(tile.x, reach), top = std::max(tile.y, reach);
    const Elements right = std::min(tile.x + tile.width, reference.width - reach);
    const Elements bottom = std::min(tile.y + tile.height, reference.height - reach);
    return {left, top, std::max<Elements>(0, right - left), std::max<Elements>(0, bottom - top)};
}

RigidSums rigid_sums(const RigidLook& look, const Tile& tile, Detail detail) {
    RigidSums sums;
    HWY_DYNAMIC_DISPATCH(add_sums)(look, with_slopes(tile, look.reference.shape), detail, sums);
    return sums;
}

} // namespace sextant::kernel
#endif
