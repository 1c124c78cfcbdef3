// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/filter/line_vectors.hpp"

#include <cstdint>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/kernel/filter/line_vectors.cpp"
#include "sextant/kernel/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernel::HWY_NAMESPACE {

template <class Sample>
HWY_INLINE void widen(const Sample* samples, Elements count, float* to) {
    const Floats d;
    const hn::RebindToSigned<Floats> integers;
    const hn::Rebind<Sample, Floats> narrow;
    const auto lanes = static_cast<Elements>(hn::Lanes(d));
    Elements i = 0;
    for (; i + lanes <= count; i += lanes) {
        const auto wide = hn::PromoteTo(integers, hn::LoadU(narrow, samples + i));
        hn::StoreU(hn::ConvertTo(d, wide), d, to + i);
    }
    for (; i < count; ++i)
        to[i] = static_cast<float>(samples[i]);
}

void widen_u8(const std::uint8_t* samples, Elements count, float* to) {
    widen(samples, count, to);
}
void widen_u16(const std::uint16_t* samples, Elements count, float* to) {
    widen(samples, count, to);
}

template <class D>
HWY_INLINE void store_numbers(D d, hn::Vec<D> v, float* to) {
    const hn::RebindToUnsigned<D> bits;
    const auto nan = hn::BitCast(d, hn::Set(bits, 0x7fc00000u));
    hn::StoreU(hn::IfThenElse(hn::IsNaN(v), nan, v), d, to);
}

void length_row(const float* x, const float* y, Elements count, float* to) {
    each_vector(count, [=](auto d, Elements i) HWY_ATTR {
        store_numbers(d, length(d, hn::LoadU(d, x + i), hn::LoadU(d, y + i)), to + i);
    });
}

/// The eigenvalues are half their sum plus and minus half their difference.
void eigenvalue_rows2(const float* const* of, float* const* to, Elements count) {
    const float *const xx_row = of[0], *const xy_row = of[1], *const yy_row = of[2];
    float *const larger = to[0], *const smaller = to[1];
    each_vector(count, [=](auto d, Elements i) HWY_ATTR {
        const auto half = hn::Set(d, .5F);
        const auto xx = hn::Mul(half, hn::LoadU(d, xx_row + i));
        const auto yy = hn::Mul(half, hn::LoadU(d, yy_row + i));
        const auto apart = length(d, hn::Sub(xx, yy), hn::LoadU(d, xy_row + i));
        if (larger)
            store_numbers(d, hn::Add(hn::Add(xx, yy), apart), larger + i);
        if (smaller)
            store_numbers(d, hn::Sub(hn::Add(xx, yy), apart), smaller + i);
    });
}

/// Rotates rows and columns p and q of a symmetric matrix so that element pq becomes 0; r is the
/// other row.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void rotate(D d, V& pp, V& qq, V& pq, V& pr, V& qr) {
    // t, the tangent of the smaller rotation that makes pq 0, is 2pq / (e ± √(e² + 4pq²)) for
    // e = qq − pp.
    const auto zero = hn::Zero(d), one = hn::Set(d, 1.F);
    const auto apart = hn::Sub(qq, pp), twice = hn::Add(pq, pq);
    const auto below = hn::Add(hn::Abs(apart), length(d, apart, twice));
    const auto size = hn::IfThenElse(hn::Eq(pq, zero), zero, hn::Div(twice, below));
    const auto t = hn::IfThenElse(hn::Lt(apart, zero), hn::Neg(size), size);
    const auto cosine = hn::Div(one, hn::Sqrt(hn::Add(one, hn::Mul(t, t))));
    const auto sine = hn::Mul(t, cosine), by = hn::Mul(t, pq);
    pp = hn::Sub(pp, by), qq = hn::Add(qq, by), pq = zero;
    const auto before = pr;
    pr = hn::Sub(hn::Mul(cosine, before), hn::Mul(sine, qr));
    qr = hn::Add(hn::Mul(sine, before), hn::Mul(cosine, qr));
}

void eigenvalue_rows3(const float* const* of, float* const* to, Elements count) {
    const float *const xx_row = of[0], *const xy_row = of[1], *const xz_row = of[2];
    const float *const yy_row = of[3], *const yz_row = of[4], *const zz_row = of[5];
    float *const first = to[0], *const second = to[1], *const third = to[2];
    each_vector(count, [=](auto d, Elements i) HWY_ATTR {
        constexpr int sweeps = 4; // enough for floats, since convergence is quadratic
        const auto load = [&](const float* from) HWY_ATTR {
            // Scaled so that sums do not overflow.
            return hn::Mul(hn::LoadU(d, from + i), hn::Set(d, .125F));
        };
        auto xx = load(xx_row), xy = load(xy_row), xz = load(xz_row);
        auto yy = load(yy_row), yz = load(yz_row), zz = load(zz_row);
        for (int sweep = 0; sweep < sweeps; ++sweep) {
            rotate(d, xx, yy, xy, xz, yz);
            rotate(d, xx, zz, xz, xy, yz);
            rotate(d, yy, zz, yz, xy, xz);
        }
        const auto unknown = hn::Add(hn::Add(xx, yy), zz); // NaN if any is NaN
        const auto upper = hn::Max(xx, yy), lower = hn::Min(xx, yy);
        const auto middle = hn::Min(upper, zz);
        const auto save = [&](auto value, float* into) HWY_ATTR {
            const auto kept = hn::IfThenElse(hn::IsNaN(unknown), unknown, value);
            if (into)
                store_numbers(d, hn::Mul(kept, hn::Set(d, 8.F)), into + i);
        };
        save(hn::Max(upper, zz), first);
        save(hn::Max(lower, middle), second);
        save(hn::Min(lower, zz), third);
    });
}

/// The number of independent sums, enough to hide the latency of additions.
constexpr int vectors = 4;
constexpr Elements lanes = hn::MaxLanes(Floats());
constexpr Elements group = vectors * lanes;
static_assert(line_unit % group == 0);

using Sums = FloatVector[vectors];

/// The scale of samples that keeps any sum of them finite, and its inverse.
constexpr float small = 0x1p-32F, small_again = 0x1p32F;

template <bool scaled>
HWY_INLINE FloatVector load(const float* from) {
    const Floats d;
    const auto samples = hn::LoadU(d, from);
    if constexpr (scaled)
        return hn::Mul(samples, hn::Set(d, small));
    else
        return samples;
}

/// Adds the samples at distances `from` down to `above` + 1, on both sides.
template <bool with_even, bool with_odd, bool scaled>
HWY_INLINE void add_pairs(const WeightedLines& job, Elements x, int from, int above, Sums& even,
                          Sums& odd) {
    const Floats d;
    for (int k = from; k > above; --k) {
        const float* const before = job.lines[-k] + x;
        const float* const after = job.lines[k] + x;
        for (int v = 0; v < vectors; ++v) {
            const auto a = load<scaled>(before + v * lanes);
            const auto b = load<scaled>(after + v * lanes);
            if constexpr (with_even) {
                const auto weight = hn::Set(d, job.even.weights[k]);
                even[v] = hn::Add(even[v], hn::Mul(weight, hn::Add(b, a)));
            }
            if constexpr (with_odd) {
                const auto weight = hn::Set(d, job.odd.weights[k]);
                odd[v] = hn::Add(odd[v], hn::Mul(weight, hn::Sub(b, a)));
            }
        }
    }
}

template <bool scaled>
HWY_INLINE void add_middle(const WeightedLines& job, Elements x, Sums& even) {
    const Floats d;
    const auto weight = hn::Set(d, job.even.weights[0]);
    for (int v = 0; v < vectors; ++v)
        even[v] = hn::Add(even[v], hn::Mul(weight, load<scaled>(job.lines[0] + x + v * lanes)));
}

template <bool scaled>
HWY_INLINE void add_all(const WeightedLines& job, Elements x, Sums& even, Sums& odd) {
    const int even_reach = job.even.reach, odd_reach = job.odd.reach;
    const int shared = even_reach < odd_reach ? even_reach : odd_reach;
    for (int v = 0; v < vectors; ++v)
        even[v] = odd[v] = hn::Zero(Floats());
    add_pairs<true, false, scaled>(job, x, even_reach, shared, even, odd);
    add_pairs<false, true, scaled>(job, x, odd_reach, shared, even, odd);
    add_pairs<true, true, scaled>(job, x, shared, 0, even, odd);
    if (job.even.to)
        add_middle<scaled>(job, x, even);
}

/// True if all sums are finite: infinity or NaN times 0 is NaN.
HWY_INLINE bool finite(const Sums& sums) {
    const Floats d;
    const auto zero = hn::Zero(d);
    auto none = hn::Mul(sums[0], zero);
    for (int v = 1; v < vectors; ++v)
        none = hn::Add(none, hn::Mul(sums[v], zero));
    return hn::AllTrue(d, hn::Eq(none, zero));
}

/// Recomputes sums that are not finite from scaled samples. A recomputed sum that fits in a float
/// is finite. Other sums are unchanged, so that no sum depends on its neighbours.
HWY_NOINLINE void mend(const WeightedLines& job, Elements x, Sums& even, Sums& odd) {
    const Floats d;
    Sums small_even, small_odd;
    add_all<true>(job, x, small_even, small_odd);
    const auto mended = [d](FloatVector sum, FloatVector small_sum) HWY_ATTR {
        const auto full = hn::Mul(small_sum, hn::Set(d, small_again));
        return with_one_nan(hn::IfThenElse(hn::IsFinite(sum), sum, full));
    };
    for (int v = 0; v < vectors; ++v) {
        even[v] = mended(even[v], small_even[v]);
        odd[v] = mended(odd[v], small_odd[v]);
    }
}

/// Calls mend() on copies, because sums whose address is taken would not stay in registers.
HWY_INLINE void mend_copies(const WeightedLines& job, Elements x, Sums& even, Sums& odd) {
    Sums copied_even, copied_odd;
    for (int v = 0; v < vectors; ++v)
        copied_even[v] = even[v], copied_odd[v] = odd[v];
    mend(job, x, copied_even, copied_odd);
    for (int v = 0; v < vectors; ++v)
        even[v] = copied_even[v], odd[v] = copied_odd[v];
}

HWY_INLINE void save(const Sums& sums, const HalfFilter& filter, Elements x, Elements width) {
    const Floats d;
    if (x + group <= width) {
        for (int v = 0; v < vectors; ++v)
            store(sums[v], d, filter.to + x + v * lanes, filter.stream);
        return;
    }
    HWY_ALIGN float last[group];
    for (int v = 0; v < vectors; ++v)
        hn::Store(sums[v], d, last + v * lanes);
    std::memcpy(filter.to + x, last, static_cast<std::size_t>(width - x) * sizeof(float));
}

void weigh_lines(const WeightedLines& job) {
    for (Elements x = 0; x < job.width; x += group) {
        Sums even, odd;
        add_all<false>(job, x, even, odd);
        if (!((!job.even.to || finite(even)) && (!job.odd.to || finite(odd))))
            mend_copies(job, x, even, odd);
        if (job.even.to)
            save(even, job.even, x, job.width);
        if (job.odd.to)
            save(odd, job.odd, x, job.width);
    }
}

} // namespace sextant::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernel {

HWY_EXPORT(widen_u8);
HWY_EXPORT(widen_u16);
HWY_EXPORT(length_row);
HWY_EXPORT(eigenvalue_rows2);
HWY_EXPORT(eigenvalue_rows3);
HWY_EXPORT(weigh_lines);

template <>
void to_floats(const std::uint8_t* samples, Elements count, float* to) {
    HWY_DYNAMIC_DISPATCH(widen_u8)(samples, count, to);
}
template <>
void to_floats(const std::uint16_t* samples, Elements count, float* to) {
    HWY_DYNAMIC_DISPATCH(widen_u16)(samples, count, to);
}
template <>
void to_floats(const float* samples, Elements count, float* to) {
    std::memcpy(to, samples, static_cast<std::size_t>(count) * sizeof(float));
}

void lengths(const float* x, const float* y, Elements count, float* to) {
    HWY_DYNAMIC_DISPATCH(length_row)(x, y, count, to);
}

void eigenvalues(std::span<const float* const> of, float* const* to, Elements count) {
    if (of.size() == 3)
        HWY_DYNAMIC_DISPATCH(eigenvalue_rows2)(of.data(), to, count);
    else
        HWY_DYNAMIC_DISPATCH(eigenvalue_rows3)(of.data(), to, count);
}

void weigh_lines(const WeightedLines& job) {
    HWY_DYNAMIC_DISPATCH(weigh_lines)(job);
}

} // namespace sextant::kernel
#endif
