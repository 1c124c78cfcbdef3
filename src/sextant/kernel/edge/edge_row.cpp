// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/edge/edge_vectors.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/kernel/edge/edge_row.cpp"
#include "sextant/kernel/filter/length-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernel::HWY_NAMESPACE {

/// Stores a vector of integers as bytes.
template <class D, class Vector>
HWY_INLINE void store_bytes(D, Vector integers, std::uint8_t* to) {
    const hn::Rebind<std::uint8_t, D> bytes;
    hn::StoreU(hn::DemoteTo(bytes, integers), bytes, to);
}

template <class D>
HWY_INLINE void measure(D d, const GradientRow& row, Elements i) {
    const auto x = hn::LoadU(d, row.x + i), y = hn::LoadU(d, row.y + i);
    const auto across = hn::Abs(x), down = hn::Abs(y), most = hn::Add(across, down);
    if (hn::AllFalse(d, hn::Ge(most, hn::Set(d, row.low)))) {
        hn::StoreU(most, d, row.lengths + i);
        return;
    }
    hn::StoreU(length(d, x, y), d, row.lengths + i);
    const auto tangent = hn::Set(d, tangent_of_near), zero = hn::Zero(d);
    const hn::RebindToSigned<D> integers;
    const auto bit = [&](auto mask, std::uint8_t value) HWY_ATTR {
        return hn::IfThenElseZero(hn::RebindMask(integers, mask),
                                  hn::Set(integers, std::int32_t{value}));
    };
    const auto near =
        hn::Or(hn::Le(down, hn::Mul(tangent, across)), hn::Le(across, hn::Mul(tangent, down)));
    const auto signs = hn::Or(bit(hn::Lt(x, zero), heading_left), bit(hn::Lt(y, zero), heading_up));
    const auto axes = hn::Or(bit(hn::Le(down, across), heading_flat), bit(near, heading_near));
    store_bytes(d, hn::Or(signs, axes), row.headings + i);
}

/// Classifies a vector of pixels. The heading selects the two neighbours along the gradient: near
/// an axis those on it, otherwise corners.
template <class D>
HWY_INLINE void classify(D d, const EdgeRow& row, Elements i) {
    const hn::RebindToSigned<D> integers;
    const hn::Rebind<std::uint8_t, D> bytes;
    const auto length = hn::LoadU(d, row.here + i);
    const auto long_enough = hn::Ge(length, hn::Set(d, row.low));
    if (hn::AllFalse(d, long_enough)) {
        hn::StoreU(hn::Zero(bytes), bytes, row.codes + i);
        return;
    }
    const auto heading = hn::PromoteTo(integers, hn::LoadU(bytes, row.headings + i));
    const auto has = [&](auto bits, std::uint8_t value) HWY_ATTR {
        return hn::RebindMask(d, hn::TestBit(bits, hn::Set(integers, std::int32_t{value})));
    };
    const auto flat = has(heading, heading_flat), near = has(heading, heading_near);
    const auto rising = has(hn::Xor(heading, hn::ShiftRight<1>(heading)), heading_left);
    const auto choose = [&](const float* side, const float* vertical, const float* down,
                            const float* up) HWY_ATTR {
        const auto corner = hn::IfThenElse(rising, hn::LoadU(d, up + i), hn::LoadU(d, down + i));
        const auto on_axis =
            hn::IfThenElse(flat, hn::LoadU(d, side + i), hn::LoadU(d, vertical + i));
        return hn::IfThenElse(near, on_axis, corner);
    };
    const auto before = choose(row.here - 1, row.above, row.above - 1, row.above + 1);
    const auto behind = choose(row.here + 1, row.below, row.below + 1, row.below - 1);
    const auto peak = hn::And(hn::Gt(length, before), hn::Ge(length, behind));
    const auto edge = hn::And(peak, long_enough);
    const auto strong = hn::RebindMask(integers, hn::Ge(length, hn::Set(d, row.high)));
    const auto kind = hn::IfThenElse(strong, hn::Set(integers, std::int32_t{strong_edge}),
                                     hn::Set(integers, std::int32_t{weak_edge}));
    const auto code = hn::IfThenElseZero(hn::RebindMask(integers, edge), hn::Or(heading, kind));
    store_bytes(d, code, row.codes + i);
}

void measure_row(const GradientRow& row) {
    each_vector(row.width, [&row](auto d, Elements i) HWY_ATTR { measure(d, row, i); });
}

void classify_row(const EdgeRow& row) {
    each_vector(row.width, [&row](auto d, Elements i) HWY_ATTR { classify(d, row, i); });
}

} // namespace sextant::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernel {

HWY_EXPORT(measure_row);
HWY_EXPORT(classify_row);

void measure_gradients(const GradientRow& row) {
    HWY_DYNAMIC_DISPATCH(measure_row)(row);
}

void classify_edges(const EdgeRow& row) {
    HWY_DYNAMIC_DISPATCH(classify_row)(row);
}

} // namespace sextant::kernel
#endif
