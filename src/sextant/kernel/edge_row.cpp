// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/edge_row.hpp"

#include "sextant/kernel/canny.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/kernel/edge_row.cpp"
#include "sextant/kernel/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernel::HWY_NAMESPACE {

/// A vector of pixels. Which two neighbours lie along the gradient follows from the ratio of its
/// parts: below tan 22.5° those beside, above its inverse those above and below, else corners.
template <class D>
HWY_INLINE void classify(D d, const EdgeRow& row, Elements i) {
    const auto x = hn::LoadU(d, row.x + i), y = hn::LoadU(d, row.y + i);
    const auto tangent = hn::Set(d, .41421356F), zero = hn::Zero(d);
    const auto beside = hn::Le(hn::Abs(y), hn::Mul(tangent, hn::Abs(x)));
    const auto upright = hn::Le(hn::Abs(x), hn::Mul(tangent, hn::Abs(y)));
    const auto falling = hn::Not(hn::Xor(hn::Lt(x, zero), hn::Lt(y, zero)));
    const auto choose = [&](const float* side, const float* vertical, const float* down,
                            const float* up) HWY_ATTR {
        const auto corner = hn::IfThenElse(falling, hn::LoadU(d, down + i), hn::LoadU(d, up + i));
        const auto not_beside = hn::IfThenElse(upright, hn::LoadU(d, vertical + i), corner);
        return hn::IfThenElse(beside, hn::LoadU(d, side + i), not_beside);
    };
    const auto before = choose(row.here - 1, row.above, row.above - 1, row.above + 1);
    const auto behind = choose(row.here + 1, row.below, row.below + 1, row.below - 1);
    const auto length = hn::LoadU(d, row.here + i);
    const auto peak = hn::And(hn::Gt(length, before), hn::Ge(length, behind));
    const auto weak = hn::And(peak, hn::Ge(length, hn::Set(d, row.low)));
    const auto strong = hn::And(weak, hn::Ge(length, hn::Set(d, row.high)));
    const auto one = hn::Set(d, 1.F);
    const auto sum = hn::Add(hn::IfThenElseZero(weak, one), hn::IfThenElseZero(strong, one));
    const auto whole = hn::ConvertTo(hn::Rebind<std::int32_t, D>(), sum);
    const hn::Rebind<std::uint8_t, D> bytes;
    hn::StoreU(hn::DemoteTo(bytes, whole), bytes, row.edges + i);
}

void classify_row(const EdgeRow& row) {
    const hn::ScalableTag<float> many;
    const hn::CappedTag<float, 1> one;
    const auto lanes = static_cast<Elements>(hn::Lanes(many));
    Elements i = 0;
    for (; i + lanes <= row.width; i += lanes)
        classify(many, row, i);
    for (; i < row.width; ++i)
        classify(one, row, i);
}

template <class D>
HWY_INLINE void square(D d, const float* x, const float* y, float* to) {
    const auto a = hn::LoadU(d, x), b = hn::LoadU(d, y);
    hn::StoreU(hn::Add(hn::Mul(a, a), hn::Mul(b, b)), d, to);
}

void square_row(const float* x, const float* y, Elements count, float* to) {
    const hn::ScalableTag<float> many;
    const hn::CappedTag<float, 1> one;
    const auto lanes = static_cast<Elements>(hn::Lanes(many));
    Elements i = 0;
    for (; i + lanes <= count; i += lanes)
        square(many, x + i, y + i, to + i);
    for (; i < count; ++i)
        square(one, x + i, y + i, to + i);
}

} // namespace sextant::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernel {

HWY_EXPORT(classify_row);
HWY_EXPORT(square_row);

void classify_edges(const EdgeRow& row) {
    HWY_DYNAMIC_DISPATCH(classify_row)(row);
}

void squared_lengths(const float* x, const float* y, Elements count, float* to) {
    HWY_DYNAMIC_DISPATCH(square_row)(x, y, count, to);
}

} // namespace sextant::kernel
#endif
