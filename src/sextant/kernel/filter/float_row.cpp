// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/filter/line_vectors.hpp"

#include <cstdint>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/kernel/filter/float_row.cpp"
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

} // namespace sextant::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernel {

HWY_EXPORT(widen_u8);
HWY_EXPORT(widen_u16);

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

} // namespace sextant::kernel
#endif
