// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/filter/line_vectors.hpp"

#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/kernel/filter/lengths.cpp"
#include "sextant/kernel/filter/length-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernel::HWY_NAMESPACE {

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

/// Computes half the sum of the eigenvalues plus `sign` times half their difference.
void eigenvalue_row(const Hessians& of, float sign, Elements count, float* to) {
    each_vector(count, [=](auto d, Elements i) HWY_ATTR {
        const auto half = hn::Set(d, .5F);
        const auto xx = hn::Mul(half, hn::LoadU(d, of.xx + i));
        const auto yy = hn::Mul(half, hn::LoadU(d, of.yy + i));
        const auto apart = length(d, hn::Sub(xx, yy), hn::LoadU(d, of.xy + i));
        const auto value = hn::Add(hn::Add(xx, yy), hn::Mul(hn::Set(d, sign), apart));
        store_numbers(d, value, to + i);
    });
}

} // namespace sextant::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernel {

HWY_EXPORT(length_row);
HWY_EXPORT(eigenvalue_row);

void lengths(const float* x, const float* y, Elements count, float* to) {
    HWY_DYNAMIC_DISPATCH(length_row)(x, y, count, to);
}

void eigenvalues(const Hessians& of, float sign, Elements count, float* to) {
    HWY_DYNAMIC_DISPATCH(eigenvalue_row)(of, sign, count, to);
}

} // namespace sextant::kernel
#endif
