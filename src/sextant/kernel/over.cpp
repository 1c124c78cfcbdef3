// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/over.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/kernel/over.cpp"
#include "sextant/kernel/lanes-inl.hpp"

#if HWY_TARGET != HWY_SCALAR
HWY_BEFORE_NAMESPACE();
namespace sextant::kernel::HWY_NAMESPACE {

/// over(), never contracted to a fused multiply-add.
struct Over {
    HWY_INLINE FloatVector operator()(FloatVector front, FloatVector back) const {
        const auto opaque = hn::Set(Floats(), 1);
        const auto through = hn::Sub(opaque, hn::Broadcast<3>(front));
        return hn::Add(front, hn::Mul(through, back));
    }
};

Elements over_f32(const Operands& operands, Elements first, Elements last) {
    return fold_lanes<F32>(operands, first, last, Over());
}

Elements over_f16(const Operands& operands, Elements first, Elements last) {
    return fold_lanes<F16>(operands, first, last, Over());
}

/// Two layers in integers: the quotient by 255, rounded, of products below 2^16 is
/// (x + 128 + (x + 128) / 256) / 256. Bytes at even and at odd places lie in words of their own.
struct OverU8 {
    using Bytes = U8::Bytes;
    using Words = hn::Repartition<std::uint16_t, Bytes>;
    using Pixels = hn::Repartition<std::uint32_t, Bytes>;

    HWY_INLINE U8::Vector operator()(U8::Vector front, U8::Vector back) const {
        const Bytes bytes;
        const Words words;
        const auto low = hn::Set(words, 0x00ff);
        const auto one = hn::ShiftRight<24>(hn::BitCast(Pixels(), hn::Not(front)));
        const auto through = hn::BitCast(words, hn::Or(one, hn::ShiftLeft<16>(one)));
        const auto both = hn::BitCast(words, back);
        const auto even = rounded(hn::Mul(hn::And(both, low), through));
        const auto odd = rounded(hn::Mul(hn::ShiftRight<8>(both), through));
        const auto seen = hn::Or(hn::ShiftRight<8>(even), hn::AndNot(low, odd));
        return hn::SaturatedAdd(front, hn::BitCast(bytes, seen));
    }

    /// Its upper byte is the quotient.
    static HWY_INLINE hn::Vec<Words> rounded(hn::Vec<Words> product) {
        const auto x = hn::Add(product, hn::Set(Words(), 128));
        return hn::Add(x, hn::ShiftRight<8>(x));
    }
};

/// A channel of pixels in u8, as floats.
template <int shift>
HWY_INLINE FloatVector channel(hn::Vec<OverU8::Pixels> pixels) {
    const OverU8::Pixels d;
    const auto level = hn::And(hn::ShiftRight<shift>(pixels), hn::Set(d, 255));
    return hn::ConvertTo(Floats(), hn::BitCast(hn::RebindToSigned<Floats>(), level));
}

/// A channel in floats as part of pixels in u8: rounded, and at most 255.
template <int shift>
HWY_INLINE hn::Vec<OverU8::Pixels> level(FloatVector sum) {
    const OverU8::Pixels d;
    const auto most = hn::Set(Floats(), 255);
    const auto level = hn::NearestInt(hn::Min(sum, most));
    return hn::ShiftLeft<shift>(hn::BitCast(d, level));
}

/// Several layers: channel by channel in floats, which are rounded once.
HWY_INLINE Elements over_many_u8(const Operands& operands, Elements first, Elements last) {
    const OverU8::Pixels d;
    constexpr Elements pixels = hn::MaxLanes(OverU8::Pixels());
    const auto load = [&](std::size_t k, Elements i) HWY_ATTR {
        const auto* from = reinterpret_cast<const std::uint8_t*>(operands.sources[k]) + 4 * i;
        return hn::BitCast(d, hn::LoadU(OverU8::Bytes(), from));
    };
    const auto opaque = hn::Set(Floats(), 255), step = hn::Set(Floats(), 1.0f / 255);
    Elements i = first;
    for (; i + pixels <= last; i += pixels) {
        const auto front = load(0, i);
        auto r = channel<0>(front), g = channel<8>(front);
        auto b = channel<16>(front), a = channel<24>(front);
        for (std::size_t k = 1; k < operands.count; ++k) {
            const auto back = load(k, i);
            const auto through = hn::Mul(hn::Sub(opaque, a), step);
            r = hn::Add(r, hn::Mul(through, channel<0>(back)));
            g = hn::Add(g, hn::Mul(through, channel<8>(back)));
            b = hn::Add(b, hn::Mul(through, channel<16>(back)));
            a = hn::Add(a, hn::Mul(through, channel<24>(back)));
        }
        const auto sum =
            hn::Or(hn::Or(level<0>(r), level<8>(g)), hn::Or(level<16>(b), level<24>(a)));
        U8::save(hn::BitCast(OverU8::Bytes(), sum),
                 reinterpret_cast<std::uint8_t*>(operands.to) + 4 * i, operands.stream);
    }
    if (operands.stream)
        hwy::FlushStream();
    return i;
}

Elements over_u8(const Operands& operands, Elements first, Elements last) {
    return operands.count == 2 ? fold_lanes<U8>(operands, first, last, OverU8())
                               : over_many_u8(operands, first, last);
}

} // namespace sextant::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace sextant::kernel {

SEXTANT_EXPORT(over_f32);
SEXTANT_EXPORT(over_f16);
SEXTANT_EXPORT(over_u8);

namespace {

template <class Pixel>
RgbaF32 combine(const RgbaF32& front, const RgbaF32& back) {
    return over(front, back, Wide<Pixel>::opaque);
}

} // namespace

std::span<const Operator> over_operators() {
    constexpr std::string_view summary = "blend premultiplied colour, front over back";
    static const Operator operators[] = {
        {"over", summary, rgba_f32, false, true,
         folding<RgbaF32>(SEXTANT_BEST(over_f32), combine<RgbaF32>), filling(RgbaF32{})},
        {"over", summary, rgba_f16, false, false,
         folding<RgbaF16>(SEXTANT_BEST(over_f16), combine<RgbaF16>), filling(RgbaF16{})},
        {"over", summary, rgba_u8, false, false,
         folding<RgbaU8>(SEXTANT_BEST(over_u8), combine<RgbaU8>), filling(RgbaU8{})},
    };
    return operators;
}

} // namespace sextant::kernel
#endif
