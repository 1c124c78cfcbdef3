// SPDX-License-Identifier: BSD-3-Clause
// Lengths in vectors. Include this file in place of lanes-inl.hpp.
#include "sextant/kernel/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernel::HWY_NAMESPACE {

/// √(x² + y²). Both are scaled by a power of two, which changes none of their digits, so that the
/// squares neither overflow nor underflow; without overflow and underflow, the bits are those of
/// the unscaled formula.
template <class D>
HWY_INLINE hn::Vec<D> length(D d, hn::Vec<D> x, hn::Vec<D> y) {
    const hn::RebindToSigned<D> bits;
    constexpr std::int32_t one = 1 << 23; // of an exponent
    const auto larger = hn::BitCast(bits, hn::Max(hn::Abs(x), hn::Abs(y)));
    const auto exponent =
        hn::Min(hn::Max(hn::And(larger, hn::Set(bits, 255 * one)), hn::Set(bits, 1 * one)),
                hn::Set(bits, 253 * one));
    const auto up = hn::BitCast(d, exponent);
    const auto down = hn::BitCast(d, hn::Sub(hn::Set(bits, 254 * one), exponent));
    const auto a = hn::Mul(x, down), b = hn::Mul(y, down);
    return hn::Mul(hn::Sqrt(hn::Add(hn::Mul(a, a), hn::Mul(b, b))), up);
}

/// Calls `work` for whole vectors while they fit, then for single values.
template <class Work>
HWY_INLINE void each_vector(Elements count, Work work) {
    const hn::ScalableTag<float> d;
    const auto lanes = static_cast<Elements>(hn::Lanes(d));
    Elements i = 0;
    for (; i + lanes <= count; i += lanes)
        work(d, i);
    for (; i < count; ++i)
        work(hn::CappedTag<float, 1>(), i);
}

} // namespace sextant::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
