// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/fit/rigid_map.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/kernel/fit/rigid_map.cpp"
#include "sextant/core/run_control.hpp"
#include "sextant/kernel/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernel::HWY_NAMESPACE {

using Integers = hn::RebindToSigned<Floats>;
using IntegerVector = hn::Vec<Integers>;

/// The four samples around each lane's position, and the position's offset from the first of them.
struct Cells {
    FloatVector upper_left, upper_right, lower_left, lower_right;
    FloatVector right, down; ///< distance from the upper left sample, in [0, 1]
};

/// Same as std::floor, which must not be called here (see lanes-inl.hpp).
HWY_INLINE Elements whole_part(double value) {
    const auto truncated = static_cast<Elements>(value);
    return truncated - (static_cast<double>(truncated) > value ? 1 : 0);
}

/// The cells that contain the mapped positions of pixels `column`, `column` + 1, ... of a row.
/// Positions on the right or lower border are in the last cell. Positions are floats relative to
/// the cell of the first pixel, so their precision does not depend on the size of the image. Lanes
/// beyond the requested pixels may have any position; their cells are inside the image too.
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

void sample_run(const RunPositions& positions, const float* upper, const float* lower, double left,
                double top, Elements count, float* to) {
    using Doubles = hn::ScalableTag<double>;
    const Doubles d;
    const hn::Rebind<float, Doubles> floats;
    constexpr Elements lanes = hn::MaxLanes(Doubles());
    const auto set = [&](double value) HWY_ATTR { return hn::Set(d, value); };
    const auto position = [&](auto u, double slope, double at, double centre, double shift)
                              HWY_ATTR {
                                  const auto sum = hn::Add(hn::Mul(set(slope), u), set(at));
                                  return hn::Add(hn::Add(sum, set(centre)), set(shift));
                              };
    const auto between = [&](auto weight, auto one, auto other) HWY_ATTR {
        return hn::Add(hn::Mul(hn::Sub(set(1), weight), one), hn::Mul(weight, other));
    };
    for (Elements i = 0; i < count; i += lanes) {
        // The last vector overlaps the one before; a run that is shorter than a vector is padded.
        HWY_ALIGN float padded[4][lanes] = {};
        const bool is_short = count < lanes;
        const Elements at = is_short ? 0 : i + lanes <= count ? i : count - lanes;
        const auto samples = [&](const float* row, int which) HWY_ATTR {
            if (!is_short)
                return hn::PromoteTo(d, hn::LoadU(floats, row + at));
            for (Elements k = 0; k < count; ++k)
                padded[which][k] = row[k];
            return hn::PromoteTo(d, hn::Load(floats, padded[which]));
        };
        const auto i_of = hn::Iota(d, static_cast<double>(at));
        const auto u = hn::Add(set(positions.first), i_of);
        const auto x =
            position(u, positions.x, positions.x_at, positions.x_centre, positions.x_shift);
        const auto y =
            position(u, positions.y, positions.y_at, positions.y_centre, positions.y_shift);
        const auto right = hn::Sub(x, hn::Add(set(left), i_of)), down = hn::Sub(y, set(top));
        const auto high = between(right, samples(upper, 0), samples(upper + 1, 1));
        const auto low = between(right, samples(lower, 2), samples(lower + 1, 3));
        const auto found = hn::DemoteTo(floats, between(down, high, low));
        if (!is_short) {
            hn::StoreU(found, floats, to + at);
            continue;
        }
        hn::Store(found, floats, padded[0]);
        for (Elements k = 0; k < count; ++k)
            to[k] = padded[0][k];
    }
}

/// Vectors for the three motion parameters, and for symmetric matrices over these.
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

/// Converts the derivative with respect to position to that with respect to (α, t_x, t_y), at (x,
/// y) from the centre of rotation.
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

/// The derivative of T with respect to (α, t_x, t_y), in R's axes.
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

/// Adds up to one vector of pixels, from `x` on. If samples may be NaN (`gaps`), the pixels are
/// counted here too.
template <Detail detail, bool gaps>
HWY_INLINE void add_pixels(const RigidComparison& comparison, Elements x, Elements y,
                           Elements remaining, Lanes& sums) {
    const Floats d;
    auto count = hn::FirstN(d, static_cast<std::size_t>(remaining));
    const float* const at = comparison.reference.first + y * comparison.reference.stride + x;
    const auto from_x =
        hn::Iota(d, static_cast<float>(static_cast<double>(x) - comparison.centre_x));
    const auto from_y =
        hn::Set(d, static_cast<float>(static_cast<double>(y) - comparison.centre_y));
    const Cells cells = cells_at(comparison.moved, comparison.map, x, y);

    const auto seen_r = hn::LoadU(d, at), seen_t = interpolated(cells);
    const auto along_x = slope(at, 1), along_y = slope(at, comparison.reference.stride);
    if constexpr (gaps) {
        const auto all = hn::Add(hn::Add(seen_r, seen_t), hn::Add(along_x, along_y));
        count = hn::AndNot(hn::IsNaN(all), count);
        sums.count = hn::Add(sums.count, hn::IfThenElseZero(count, hn::Set(d, 1.0f)));
    }
    // Pixels beyond the last one contribute 0: each sum has r, t or j as a factor.
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
        Three moved = moved_by_motion(cells, comparison.map, from_x, from_y);
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
HWY_INLINE void add_tile(const RigidComparison& comparison, const Tile& tile, RigidSums& to) {
    constexpr Elements lanes = hn::MaxLanes(Floats());
    Lanes sums = no_lanes();
    Elements vectors = 0;
    for (Elements y = tile.y; y < tile.y + tile.height; y += comparison.row_step) {
        const Columns columns = columns_inside(comparison.map, y, {tile.x, tile.x + tile.width},
                                               comparison.moved.shape);
        if constexpr (!gaps)
            to.count += static_cast<double>(columns.last - columns.first);
        for (Elements x = columns.first; x < columns.last; x += lanes)
            add_pixels<detail, gaps>(comparison, x, y, columns.last - x, sums);
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
HWY_INLINE void add_tile(const RigidComparison& comparison, const Tile& tile, Detail detail,
                         RigidSums& to) {
    switch (detail) {
    case Detail::score:
        return add_tile<Detail::score, gaps>(comparison, tile, to);
    case Detail::matrix:
        return add_tile<Detail::matrix, gaps>(comparison, tile, to);
    case Detail::slopes:
        return add_tile<Detail::slopes, gaps>(comparison, tile, to);
    }
}

void add_sums(const RigidComparison& comparison, const Tile& tile, Detail detail, RigidSums& to) {
    if (comparison.gaps)
        add_tile<true>(comparison, tile, detail, to);
    else
        add_tile<false>(comparison, tile, detail, to);
}

} // namespace sextant::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernel {

HWY_EXPORT(warp_row);
HWY_EXPORT(sample_run);
HWY_EXPORT(add_sums);

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

template <std::size_t size>
void add_to(double (&sums)[size], const double (&others)[size]) {
    for (std::size_t k = 0; k < size; ++k)
        sums[k] += others[k];
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

void sample_run(const RunPositions& positions, const float* upper, const float* lower, double left,
                double top, Elements count, float* to) {
    HWY_DYNAMIC_DISPATCH(sample_run)(positions, upper, lower, left, top, count, to);
}

void warp(const FloatImage& image, const RigidMap& map, float outside, ImageShape shape, Plane to) {
    warp_rows(image, map, outside, shape, 0, shape.height, to);
}

void warp_rows(const FloatImage& image, const RigidMap& map, float outside, ImageShape shape,
               Elements first, Elements last, Plane to) {
    for (Elements y = first; y < last; ++y) {
        float* const row = to.first + y * to.stride;
        check_cancelled(shape.width);
        const Columns inside = columns_inside(map, y, {0, shape.width}, image.shape);
        std::fill(row, row + inside.first, outside);
        HWY_DYNAMIC_DISPATCH(warp_row)(image, map, y, inside, row);
        std::fill(row + inside.last, row + shape.width, outside);
    }
}

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

RigidSums rigid_sums(const RigidComparison& comparison, const Tile& tile, Detail detail) {
    RigidSums sums;
    HWY_DYNAMIC_DISPATCH(add_sums)
    (comparison, with_slopes(tile, comparison.reference.shape), detail, sums);
    return sums;
}

} // namespace sextant::kernel
#endif
