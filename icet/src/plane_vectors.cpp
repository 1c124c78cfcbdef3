// SPDX-License-Identifier: BSD-3-Clause
#include "plane_vectors.hpp"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plane_vectors.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sextant::icet::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Words = hn::ScalableTag<std::uint32_t>;
using Depths = hn::Rebind<float, Words>;

constexpr float nothing = std::numeric_limits<float>::infinity();

void interleave_all(const std::uint32_t* colors, const float* depths, Elements count,
                    RgbaU8DepthF32* to) {
    auto* const out = reinterpret_cast<std::uint32_t*>(to);
    Elements i = 0;
#if HWY_TARGET != HWY_SCALAR
    const Words words;
    const Depths floats;
    const auto lanes = static_cast<Elements>(hn::Lanes(words));
    for (; i + lanes <= count; i += lanes) {
        const auto depth = hn::LoadU(floats, depths + i);
        const auto covered = hn::Lt(depth, hn::Set(floats, 1.F));
        const auto color =
            hn::IfThenElseZero(hn::RebindMask(words, covered), hn::LoadU(words, colors + i));
        const auto kept = hn::IfThenElse(covered, depth, hn::Set(floats, nothing));
        hn::StoreInterleaved2(color, hn::BitCast(words, kept), words, out + 2 * i);
    }
#endif
    for (; i < count; ++i) {
        const bool covered = depths[i] < 1;
        const float kept = covered ? depths[i] : nothing;
        out[2 * i] = covered ? colors[i] : 0;
        to[i].depth = kept;
    }
}

void deinterleave_all(const RgbaU8DepthF32* from, Elements count, std::uint32_t background,
                      std::uint32_t* colors, float* depths) {
    const auto* const in = reinterpret_cast<const std::uint32_t*>(from);
    Elements i = 0;
#if HWY_TARGET != HWY_SCALAR
    const Words words;
    const Depths floats;
    const auto lanes = static_cast<Elements>(hn::Lanes(words));
    for (; i + lanes <= count; i += lanes) {
        hn::Vec<Words> color, bits;
        hn::LoadInterleaved2(words, in + 2 * i, color, bits);
        const auto depth = hn::BitCast(floats, bits);
        const auto covered = hn::Lt(depth, hn::Set(floats, 1.F));
        hn::StoreU(
            hn::IfThenElse(hn::RebindMask(words, covered), color, hn::Set(words, background)),
            words, colors + i);
        if (depths)
            hn::StoreU(hn::IfThenElse(covered, depth, hn::Set(floats, 1.F)), floats, depths + i);
    }
#endif
    for (; i < count; ++i) {
        const bool covered = from[i].depth < 1;
        colors[i] = covered ? in[2 * i] : background;
        if (depths)
            depths[i] = covered ? from[i].depth : 1.F;
    }
}

} // namespace sextant::icet::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::icet {

HWY_EXPORT(interleave_all);
HWY_EXPORT(deinterleave_all);

void interleave(const std::uint32_t* colors, const float* depths, Elements count,
                RgbaU8DepthF32* to) {
    HWY_DYNAMIC_DISPATCH(interleave_all)(colors, depths, count, to);
}

void deinterleave(const RgbaU8DepthF32* from, Elements count, std::uint32_t background,
                  std::uint32_t* colors, float* depths) {
    HWY_DYNAMIC_DISPATCH(deinterleave_all)(from, count, background, colors, depths);
}

} // namespace sextant::icet
#endif
