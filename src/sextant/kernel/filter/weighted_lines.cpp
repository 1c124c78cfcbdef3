// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/filter/weighted_lines.hpp"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/kernel/filter/weighted_lines.cpp"
#include "sextant/kernel/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernel::HWY_NAMESPACE {

/// As many sums side by side as hide how long an addition takes.
constexpr int vectors = 4;
constexpr Elements lanes = hn::MaxLanes(Floats());
constexpr Elements group = vectors * lanes;
static_assert(line_unit % group == 0);

using Sums = FloatVector[vectors];

/// Adds what lies `from` to `above` + 1 samples to either side.
template <bool with_even, bool with_odd>
HWY_INLINE void add_pairs(const WeightedLines& job, Elements x, int from, int above, Sums& even,
                          Sums& odd) {
    const Floats d;
    for (int k = from; k > above; --k) {
        const float* const before = job.lines[-k] + x;
        const float* const after = job.lines[k] + x;
        for (int v = 0; v < vectors; ++v) {
            const auto a = hn::LoadU(d, before + v * lanes);
            const auto b = hn::LoadU(d, after + v * lanes);
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

HWY_INLINE void add_middle(const WeightedLines& job, Elements x, Sums& even) {
    const Floats d;
    const auto weight = hn::Set(d, job.even.weights[0]);
    for (int v = 0; v < vectors; ++v) {
        const auto middle = hn::LoadU(d, job.lines[0] + x + v * lanes);
        even[v] = hn::Add(even[v], hn::Mul(weight, middle));
    }
}

HWY_INLINE void save(const Sums& sums, const HalfFilter& filter, Elements x, Elements width) {
    const Floats d;
    if (x + group <= width) {
        for (int v = 0; v < vectors; ++v)
            store(with_one_nan(sums[v]), d, filter.to + x + v * lanes, filter.stream);
        return;
    }
    HWY_ALIGN float last[group];
    for (int v = 0; v < vectors; ++v)
        hn::Store(with_one_nan(sums[v]), d, last + v * lanes);
    std::memcpy(filter.to + x, last, static_cast<std::size_t>(width - x) * sizeof(float));
}

void weigh_lines(const WeightedLines& job) {
    const int even_reach = job.even.reach, odd_reach = job.odd.reach;
    const int shared = even_reach < odd_reach ? even_reach : odd_reach;
    for (Elements x = 0; x < job.width; x += group) {
        Sums even, odd;
        for (int v = 0; v < vectors; ++v)
            even[v] = odd[v] = hn::Zero(Floats());
        add_pairs<true, false>(job, x, even_reach, shared, even, odd);
        add_pairs<false, true>(job, x, odd_reach, shared, even, odd);
        add_pairs<true, true>(job, x, shared, 0, even, odd);
        if (job.even.to) {
            add_middle(job, x, even);
            save(even, job.even, x, job.width);
        }
        if (job.odd.to)
            save(odd, job.odd, x, job.width);
    }
}

} // namespace sextant::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernel {

HWY_EXPORT(weigh_lines);

void weigh_lines(const WeightedLines& job) {
    HWY_DYNAMIC_DISPATCH(weigh_lines)(job);
}

} // namespace sextant::kernel
#endif
