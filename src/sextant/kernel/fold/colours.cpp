// SPDX-License-Identifier: BSD-3-Clause
// Operators that combine the colours of pixels: over, add, max.
#include "sextant/kernel/fold/catalogue.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/kernel/fold/colours.cpp"
#include "sextant/kernel/lanes-inl.hpp"

#if HWY_TARGET != HWY_SCALAR
HWY_BEFORE_NAMESPACE();
namespace sextant::kernel::HWY_NAMESPACE {

/// over() on vectors, never contracted to a fused multiply-add.
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

/// over() for two layers, in integers: for x below 2^16, x / 255 rounded to nearest is (x + 128 +
/// (x + 128) / 256) / 256. Bytes at even and odd positions are processed in separate words.
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

    /// The upper byte of each resulting word is the quotient by 255.
    static HWY_INLINE hn::Vec<Words> rounded(hn::Vec<Words> product) {
        const auto x = hn::Add(product, hn::Set(Words(), 128));
        return hn::Add(x, hn::ShiftRight<8>(x));
    }
};

/// Up to sixteen u8 pixels as floats, one vector per channel. Colour channels keep their bit
/// position in the pixel and are therefore scaled by 1, 2^8 or 2^16, which is exact.
struct Channels {
    using Signed = hn::RebindToSigned<Floats>;
    FloatVector r, g, b, a;

    Channels() = default;
    explicit HWY_INLINE Channels(hn::Vec<OverU8::Pixels> pixels)
        : r(masked(pixels, 0xff)),
          g(masked(pixels, 0xff00)),
          b(masked(pixels, 0xff0000)),
          a(hn::ConvertTo(Floats(), hn::BitCast(Signed(), hn::ShiftRight<24>(pixels)))) {}

    static HWY_INLINE FloatVector masked(hn::Vec<OverU8::Pixels> pixels, std::uint32_t mask) {
        const auto channel = hn::And(pixels, hn::Set(OverU8::Pixels(), mask));
        return hn::ConvertTo(Floats(), hn::BitCast(Signed(), channel));
    }

    /// Applies over() with this object as the front.
    HWY_INLINE void put_behind(const Channels& back) {
        const auto seen = hn::Sub(hn::Set(Floats(), 255), a);
        const auto through = hn::Mul(seen, hn::Set(Floats(), 1.0f / 255));
        r = hn::Add(r, hn::Mul(through, back.r));
        g = hn::Add(g, hn::Mul(through, back.g));
        b = hn::Add(b, hn::Mul(through, back.b));
        a = hn::Add(a, hn::Mul(through, back.a));
    }

    HWY_INLINE hn::Vec<OverU8::Pixels> pixels() const {
        const auto rg = hn::Or(level(r, 1), hn::ShiftLeft<8>(level(g, 0x1p8f)));
        const auto ba = hn::Or(level(b, 0x1p16f), hn::ShiftLeft<8>(level(a, 1)));
        return hn::Or(rg, hn::ShiftLeft<16>(ba));
    }

    /// Converts a channel to multiples of `unit`, rounded and at most 255: at 2^23 the last bit of
    /// a float is 1, so adding 2^23 rounds.
    static HWY_INLINE hn::Vec<OverU8::Pixels> level(FloatVector channel, float unit) {
        const OverU8::Pixels d;
        const auto sum = hn::Min(channel, hn::Set(Floats(), 255 * unit));
        const auto rounded = hn::Add(sum, hn::Set(Floats(), 0x1p23f * unit));
        return hn::And(hn::BitCast(d, rounded), hn::Set(d, 255));
    }
};

/// Several layers, computed in floats and rounded once. Each layer depends on the opacity of the
/// layers before it. To hide this latency, several vectors are folded at once if there are enough
/// registers.
HWY_INLINE Elements over_many_u8(const Operands& operands, Elements first, Elements last) {
    constexpr Elements lanes = hn::MaxLanes(OverU8::Pixels());
    constexpr int vectors = lanes == 16 ? 2 : 1;
    const auto channels = [&](std::size_t k, Elements i) HWY_ATTR {
        const auto* from = reinterpret_cast<const std::uint8_t*>(operands.sources[k]) + 4 * i;
        return Channels(hn::BitCast(OverU8::Pixels(), U8::load(from)));
    };
    Elements i = first;
    for (; i + vectors * lanes <= last; i += vectors * lanes) {
        Channels sums[vectors];
        for (int v = 0; v < vectors; ++v)
            sums[v] = channels(0, i + v * lanes);
        for (std::size_t k = 1; k < operands.count; ++k) {
            for (int v = 0; v < vectors; ++v)
                sums[v].put_behind(channels(k, i + v * lanes));
        }
        for (int v = 0; v < vectors; ++v) {
            auto* const to = reinterpret_cast<std::uint8_t*>(operands.to) + 4 * (i + v * lanes);
            U8::save(hn::BitCast(U8::Bytes(), sums[v].pixels()), to, operands.stream);
        }
    }
    if (operands.stream)
        hwy::FlushStream();
    return i;
}

Elements over_u8(const Operands& operands, Elements first, Elements last) {
    return operands.count == 2 ? fold_lanes<U8>(operands, first, last, OverU8())
                               : over_many_u8(operands, first, last);
}

struct Add {
    HWY_INLINE FloatVector operator()(FloatVector first, FloatVector second) const {
        return hn::Add(first, second);
    }
};

/// Saturating after each layer gives the same result as saturating once.
struct AddU8 {
    HWY_INLINE U8::Vector operator()(U8::Vector first, U8::Vector second) const {
        return hn::SaturatedAdd(first, second);
    }
};

Elements add_f32(const Operands& operands, Elements first, Elements last) {
    return fold_lanes<F32>(operands, first, last, Add());
}

Elements add_f16(const Operands& operands, Elements first, Elements last) {
    return fold_lanes<F16>(operands, first, last, Add());
}

Elements add_u8(const Operands& operands, Elements first, Elements last) {
    return fold_lanes<U8>(operands, first, last, AddU8());
}

/// max() on vectors. Highway's max is not used, because its result for NaN and signed zeros depends
/// on the processor.
struct Max {
    HWY_INLINE FloatVector operator()(FloatVector first, FloatVector second) const {
        const auto larger = hn::IfThenElse(hn::Gt(first, second), first, second);
        const auto equal = hn::Eq(first, second);
        const auto number = hn::IfThenElse(equal, hn::And(first, second), larger);
        return hn::IfThenElse(hn::IsNaN(second), first, number);
    }
};

struct MaxU8 {
    HWY_INLINE U8::Vector operator()(U8::Vector first, U8::Vector second) const {
        return hn::Max(first, second);
    }
};

Elements max_f32(const Operands& operands, Elements first, Elements last) {
    return fold_lanes<F32>(operands, first, last, Max());
}

Elements max_f16(const Operands& operands, Elements first, Elements last) {
    return fold_lanes<F16>(operands, first, last, Max());
}

Elements max_u8(const Operands& operands, Elements first, Elements last) {
    return fold_lanes<U8>(operands, first, last, MaxU8());
}

} // namespace sextant::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace sextant::kernel {

SEXTANT_EXPORT(over_f32);
SEXTANT_EXPORT(over_f16);
SEXTANT_EXPORT(over_u8);
SEXTANT_EXPORT(add_f32);
SEXTANT_EXPORT(add_f16);
SEXTANT_EXPORT(add_u8);
SEXTANT_EXPORT(max_f32);
SEXTANT_EXPORT(max_f16);
SEXTANT_EXPORT(max_u8);

namespace {

template <class Pixel>
RgbaF32 blend(const RgbaF32& front, const RgbaF32& back) {
    return over(front, back, Wide<Pixel>::opaque);
}

RgbaF32 larger(const RgbaF32& first, const RgbaF32& second) {
    return max(first, second);
}

} // namespace

std::span<const Operator> over_operators() {
    constexpr std::string_view summary = "blend premultiplied colour, front over back";
    static const Operator operators[] = {
        {"over", summary, rgba_f32, false, true,
         folding<RgbaF32>(SEXTANT_BEST(over_f32), blend<RgbaF32>), filling(RgbaF32{})},
        {"over", summary, rgba_f16, false, false,
         folding<RgbaF16>(SEXTANT_BEST(over_f16), blend<RgbaF16>), filling(RgbaF16{})},
        {"over", summary, rgba_u8, false, false,
         folding<RgbaU8>(SEXTANT_BEST(over_u8), blend<RgbaU8>), filling(RgbaU8{})},
    };
    return operators;
}

std::span<const Operator> add_operators() {
    constexpr std::string_view summary = "add channel by channel";
    static const Operator operators[] = {
        {"add", summary, rgba_f32, true, true, folding<RgbaF32>(SEXTANT_BEST(add_f32), add),
         filling(RgbaF32{})},
        {"add", summary, rgba_f16, true, false, folding<RgbaF16>(SEXTANT_BEST(add_f16), add),
         filling(RgbaF16{})},
        {"add", summary, rgba_u8, true, true, folding<RgbaU8>(SEXTANT_BEST(add_u8), add),
         filling(RgbaU8{})},
    };
    return operators;
}

std::span<const Operator> max_operators() {
    constexpr std::string_view summary = "keep the maximum of each channel";
    static const Operator operators[] = {
        {"max", summary, rgba_f32, true, true, folding<RgbaF32>(SEXTANT_BEST(max_f32), larger),
         filling(RgbaF32{})},
        {"max", summary, rgba_f16, true, true, folding<RgbaF16>(SEXTANT_BEST(max_f16), larger),
         filling(RgbaF16{})},
        {"max", summary, rgba_u8, true, true, folding<RgbaU8>(SEXTANT_BEST(max_u8), larger),
         filling(RgbaU8{})},
    };
    return operators;
}

} // namespace sextant::kernel
#endif
