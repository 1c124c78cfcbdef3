// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/label/row_bits.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/kernel/label/row_bits.cpp"
#include "sextant/kernel/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernel::HWY_NAMESPACE {

/// Makes one word of bits at a time: by whole vectors, and the last word by single samples.
template <class Sample, class Vectors, class One>
HWY_INLINE void make_bits(Elements count, std::uint64_t* bits, Vectors vectors, One one) {
    using Samples = hn::CappedTag<Sample, 64>;
    constexpr Elements lanes = hn::MaxLanes(Samples());
    for (Elements first = 0; first < count; first += 64) {
        std::uint64_t word = 0;
        if (first + 64 <= count) {
            for (Elements i = 0; i < 64; i += lanes) {
                std::uint64_t some = 0;
                hn::StoreMaskBits(Samples(), vectors(Samples(), first + i),
                                  reinterpret_cast<std::uint8_t*>(&some));
                word |= some << i;
            }
        } else {
            for (Elements i = first; i < count; ++i)
                word |= std::uint64_t{one(i)} << (i - first);
        }
        bits[first / 64] = word;
    }
}

template <class Sample>
HWY_INLINE void not_zero(const Sample* row, Elements count, std::uint64_t* bits) {
    make_bits<Sample>(
        count, bits,
        [row](auto d, Elements i)
            HWY_ATTR { return hn::Not(hn::Eq(hn::LoadU(d, row + i), hn::Zero(d))); },
        [row](Elements i) { return row[i] != Sample{0}; });
}

template <class Sample>
HWY_INLINE void equal(const Sample* a, const Sample* b, Elements count, std::uint64_t* bits) {
    make_bits<Sample>(
        count, bits,
        [a, b](auto d, Elements i)
            HWY_ATTR { return hn::Eq(hn::LoadU(d, a + i), hn::LoadU(d, b + i)); },
        [a, b](Elements i) { return a[i] == b[i]; });
}

void not_zero_f32(const float* row, Elements count, std::uint64_t* bits) {
    not_zero(row, count, bits);
}
void not_zero_u8(const std::uint8_t* row, Elements count, std::uint64_t* bits) {
    not_zero(row, count, bits);
}
void not_zero_u16(const std::uint16_t* row, Elements count, std::uint64_t* bits) {
    not_zero(row, count, bits);
}
void not_zero_u32(const std::uint32_t* row, Elements count, std::uint64_t* bits) {
    not_zero(row, count, bits);
}
void not_zero_u64(const std::uint64_t* row, Elements count, std::uint64_t* bits) {
    not_zero(row, count, bits);
}
void not_zero_f64(const double* row, Elements count, std::uint64_t* bits) {
    not_zero(row, count, bits);
}
void equal_f32(const float* a, const float* b, Elements count, std::uint64_t* bits) {
    equal(a, b, count, bits);
}
void equal_u8(const std::uint8_t* a, const std::uint8_t* b, Elements count, std::uint64_t* bits) {
    equal(a, b, count, bits);
}
void equal_u16(const std::uint16_t* a, const std::uint16_t* b, Elements count,
               std::uint64_t* bits) {
    equal(a, b, count, bits);
}
void equal_u32(const std::uint32_t* a, const std::uint32_t* b, Elements count,
               std::uint64_t* bits) {
    equal(a, b, count, bits);
}
void equal_u64(const std::uint64_t* a, const std::uint64_t* b, Elements count,
               std::uint64_t* bits) {
    equal(a, b, count, bits);
}
void equal_f64(const double* a, const double* b, Elements count, std::uint64_t* bits) {
    equal(a, b, count, bits);
}

} // namespace sextant::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernel {

HWY_EXPORT(not_zero_f32);
HWY_EXPORT(not_zero_u8);
HWY_EXPORT(not_zero_u16);
HWY_EXPORT(not_zero_u32);
HWY_EXPORT(not_zero_u64);
HWY_EXPORT(not_zero_f64);
HWY_EXPORT(equal_f32);
HWY_EXPORT(equal_u8);
HWY_EXPORT(equal_u16);
HWY_EXPORT(equal_u32);
HWY_EXPORT(equal_u64);
HWY_EXPORT(equal_f64);

template <>
void bits_not_zero(const float* row, Elements count, std::uint64_t* bits) {
    HWY_DYNAMIC_DISPATCH(not_zero_f32)(row, count, bits);
}
template <>
void bits_not_zero(const std::uint8_t* row, Elements count, std::uint64_t* bits) {
    HWY_DYNAMIC_DISPATCH(not_zero_u8)(row, count, bits);
}
template <>
void bits_not_zero(const std::uint16_t* row, Elements count, std::uint64_t* bits) {
    HWY_DYNAMIC_DISPATCH(not_zero_u16)(row, count, bits);
}
template <>
void bits_equal(const float* a, const float* b, Elements count, std::uint64_t* bits) {
    HWY_DYNAMIC_DISPATCH(equal_f32)(a, b, count, bits);
}
template <>
void bits_equal(const std::uint8_t* a, const std::uint8_t* b, Elements count, std::uint64_t* bits) {
    HWY_DYNAMIC_DISPATCH(equal_u8)(a, b, count, bits);
}
template <>
void bits_equal(const std::uint16_t* a, const std::uint16_t* b, Elements count,
                std::uint64_t* bits) {
    HWY_DYNAMIC_DISPATCH(equal_u16)(a, b, count, bits);
}
template <>
void bits_not_zero(const std::uint32_t* row, Elements count, std::uint64_t* bits) {
    HWY_DYNAMIC_DISPATCH(not_zero_u32)(row, count, bits);
}
template <>
void bits_equal(const std::uint32_t* a, const std::uint32_t* b, Elements count,
                std::uint64_t* bits) {
    HWY_DYNAMIC_DISPATCH(equal_u32)(a, b, count, bits);
}
template <>
void bits_not_zero(const std::uint64_t* row, Elements count, std::uint64_t* bits) {
    HWY_DYNAMIC_DISPATCH(not_zero_u64)(row, count, bits);
}
template <>
void bits_equal(const std::uint64_t* a, const std::uint64_t* b, Elements count,
                std::uint64_t* bits) {
    HWY_DYNAMIC_DISPATCH(equal_u64)(a, b, count, bits);
}
template <>
void bits_not_zero(const double* row, Elements count, std::uint64_t* bits) {
    HWY_DYNAMIC_DISPATCH(not_zero_f64)(row, count, bits);
}
template <>
void bits_equal(const double* a, const double* b, Elements count, std::uint64_t* bits) {
    HWY_DYNAMIC_DISPATCH(equal_f64)(a, b, count, bits);
}

} // namespace sextant::kernel
#endif
