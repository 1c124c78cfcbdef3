// SPDX-License-Identifier: BSD-3-Clause
// Vector code shared by kernels, compiled once per instruction set. A kernel's source file defines
// HWY_TARGET_INCLUDE as its own name and includes this file. Highway then includes that source file
// once for every target that the compiler supports, with a different HWY_NAMESPACE each time. This
// file therefore has no `#pragma once`.
//
// Code between HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE may use the target's instructions. It
// must not call inline functions from outside: the linker keeps one copy of each, which might be
// the one with these instructions.

// Disables targets whose vector size is known only at run time: such vectors cannot be stored in
// arrays, as the code for pixels with depth requires. Arm processors with such vectors also support
// vectors of fixed size.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif

#include "sextant/kernel/pixel_fold.hpp"

#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if HWY_ONCE

/// Makes the vector fold `name` available to SEXTANT_BEST. On targets with one lane, too short for
/// a pixel, the scalar fold does all the work.
#define SEXTANT_EXPORT(name)                                                                       \
    namespace N_SCALAR {                                                                           \
    [[maybe_unused]] static Elements name(const Operands&, Elements first, Elements) {             \
        return first;                                                                              \
    }                                                                                              \
    }                                                                                              \
    HWY_EXPORT(name)

/// The vector fold `name`, compiled for the current processor.
#define SEXTANT_BEST(name)                                                                         \
    [](const Operands& operands, Elements first, Elements last) {                                  \
        return HWY_DYNAMIC_DISPATCH(name)(operands, first, last);                                  \
    }

#endif

HWY_BEFORE_NAMESPACE();
namespace sextant::kernel::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using FloatVector = hn::Vec<Floats>;

template <class Descriptor>
HWY_INLINE void store(hn::Vec<Descriptor> v, Descriptor d, hn::TFromD<Descriptor>* to,
                      bool stream) {
    constexpr bool whole = hn::MaxLanes(Descriptor()) * sizeof(*to) >= HWY_STREAM_MULTIPLE;
    if (whole && stream)
        hn::Stream(v, d, to);
    else
        hn::StoreU(v, d, to);
}

/// Replaces every NaN by the same quiet NaN; see Wide in pixel_fold.hpp.
HWY_INLINE FloatVector with_one_nan(FloatVector v) {
    const Floats d;
    const hn::RebindToUnsigned<Floats> bits;
    return hn::IfThenElse(hn::IsNaN(v), hn::BitCast(d, hn::Set(bits, 0x7fc00000u)), v);
}

/// √(x² + y²). x and y are scaled by a power of two, which is exact, so that their squares neither
/// overflow nor underflow. Where the unscaled formula does not overflow or underflow either, it
/// gives the same bits.
template <class D>
HWY_INLINE hn::Vec<D> length(D d, hn::Vec<D> x, hn::Vec<D> y) {
    const hn::RebindToSigned<D> bits;
    constexpr std::int32_t one = 1 << 23; // the lowest bit of the exponent field
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

#if HWY_TARGET != HWY_SCALAR

/// Lanes for rgba f32: one channel per lane.
struct F32 {
    using Channel = float;
    using Vector = FloatVector;
    static constexpr std::size_t lanes = hn::MaxLanes(Floats());
    static HWY_INLINE Vector load(const float* from) { return hn::LoadU(Floats(), from); }
    static HWY_INLINE void save(Vector v, float* to, bool stream) {
        store(with_one_nan(v), Floats(), to, stream);
    }
};

/// Lanes for rgba f16, widened to floats. Uses Highway's conversions on targets that have an
/// instruction for them. Highway's emulation is not used, because it truncates and does not handle
/// infinity or NaN.
struct F16 {
    using Channel = std::uint16_t;
    using Vector = FloatVector;
    using Halves = hn::Rebind<std::uint16_t, Floats>;
    using Integers = hn::RebindToUnsigned<Floats>;
    using Signed = hn::RebindToSigned<Floats>;
    static constexpr std::size_t lanes = hn::MaxLanes(Floats());

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL ||               \
    (HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64)
    using NativeHalves = hn::Rebind<hwy::float16_t, Floats>;
    static HWY_INLINE Vector load(const std::uint16_t* from) {
        return hn::PromoteTo(Floats(), hn::BitCast(NativeHalves(), hn::LoadU(Halves(), from)));
    }
    static HWY_INLINE void save(Vector v, std::uint16_t* to, bool stream) {
        const auto halves = hn::DemoteTo(NativeHalves(), with_one_nan(v));
        store(hn::BitCast(Halves(), halves), Halves(), to, stream);
    }
#else
    /// Same as to_float().
    static HWY_INLINE Vector load(const std::uint16_t* from) {
        const Floats d;
        const Integers integers;
        const auto bits = hn::PromoteTo(integers, hn::LoadU(Halves(), from));
        const auto magnitude = hn::And(bits, hn::Set(integers, 0x7fff));
        const auto counted = hn::ConvertTo(d, hn::BitCast(Signed(), magnitude));
        const auto steps = hn::BitCast(integers, hn::Mul(counted, hn::Set(d, 0x1p-24f)));
        const auto finite = below(magnitude, 0x7c00);
        const auto exponent = hn::IfThenElse(finite, hn::Set(integers, (127u - 15) << 23),
                                             hn::Set(integers, (255u - 31) << 23));
        const auto number = hn::Add(exponent, hn::ShiftLeft<13>(magnitude));
        const auto value = hn::IfThenElse(below(magnitude, 0x0400), steps, number);
        const auto sign = hn::ShiftLeft<16>(hn::Xor(bits, magnitude));
        return hn::BitCast(d, hn::Or(sign, value));
    }
    /// Same as to_half().
    static HWY_INLINE void save(Vector v, std::uint16_t* to, bool stream) {
        const Floats d;
        const Integers integers;
        const auto bits = hn::BitCast(integers, with_one_nan(v));
        const auto magnitude = hn::And(bits, hn::Set(integers, 0x7fffffffu));
        const auto half = hn::Set(integers, 0x3f000000u);
        const auto beside_half = hn::Add(hn::BitCast(d, magnitude), hn::BitCast(d, half));
        const auto steps = hn::Sub(hn::BitCast(integers, beside_half), half);
        const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(integers, 1));
        const auto rebased = hn::Sub(magnitude, hn::Set(integers, (112u << 23) - 0xfff));
        const auto number = hn::ShiftRight<13>(hn::Add(rebased, odd));
        const auto large = hn::IfThenElse(below(magnitude, 0x7f800001u), hn::Set(integers, 0x7c00),
                                          hn::Set(integers, 0x7e00));
        const auto finite = hn::IfThenElse(below(magnitude, 0x38800000u), steps, number);
        const auto value = hn::IfThenElse(below(magnitude, 0x47800000u), finite, large);
        const auto sign = hn::ShiftRight<16>(hn::AndNot(hn::Set(integers, 0x7fffffffu), bits));
        const auto halves = hn::BitCast(Signed(), hn::Or(sign, value));
        store(hn::DemoteTo(Halves(), halves), Halves(), to, stream);
    }

  private:
    static HWY_INLINE hn::Mask<Integers> below(hn::Vec<Integers> magnitude, std::uint32_t limit) {
        const auto less = hn::Lt(hn::BitCast(Signed(), magnitude),
                                 hn::Set(Signed(), static_cast<std::int32_t>(limit)));
        return hn::RebindMask(Integers(), less);
    }
#endif
};

/// Lanes for rgba u8, for operators that need no wider type.
struct U8 {
    using Channel = std::uint8_t;
    using Bytes = hn::ScalableTag<std::uint8_t>;
    using Vector = hn::Vec<Bytes>;
    static constexpr std::size_t lanes = hn::MaxLanes(Bytes());
    static HWY_INLINE Vector load(const std::uint8_t* from) { return hn::LoadU(Bytes(), from); }
    static HWY_INLINE void save(Vector v, std::uint8_t* to, bool stream) {
        store(v, Bytes(), to, stream);
    }
};

/// Folds in one pass over vectors of colours. `Combine` is the operator on vectors of `Lanes`.
template <class Lanes, class Combine>
HWY_INLINE Elements fold_lanes(const Operands& operands, Elements first, Elements last,
                               Combine combine) {
    using Channel = typename Lanes::Channel;
    constexpr Elements pixels = Lanes::lanes / 4;
    const auto at = [&](const std::byte* from, Elements i)
                        HWY_ATTR { return reinterpret_cast<const Channel*>(from) + 4 * i; };
    const std::byte* const* const end = operands.sources + operands.count;
    Elements i = first;
    for (; i + pixels <= last; i += pixels) {
        auto sum = Lanes::load(at(operands.sources[0], i));
        for (auto source = operands.sources + 1; source != end; ++source)
            sum = combine(sum, Lanes::load(at(*source, i)));
        Lanes::save(sum, reinterpret_cast<Channel*>(operands.to) + 4 * i, operands.stream);
    }
    if (operands.stream)
        hwy::FlushStream();
    return i;
}

#endif

} // namespace sextant::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
