// SPDX-License-Identifier: BSD-3-Clause
#include "plane_vectors.hpp"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plane_vectors.cpp"
#include <hwy/cache_control.h>
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

/// Composites pixel `i`.
void keep_nearest_pixel(const NearestPlanes& planes, Elements i) {
    float depth = 1;
    std::uint32_t color = planes.background;
    for (std::size_t k = 0; k < planes.images; ++k) {
        const float other = planes.depths[k][i];
        const std::uint32_t with = planes.colors ? planes.colors[k][i] : 0;
        if (other < depth || (other == depth && depth < 1 && color >> 24 == 0 && with >> 24 != 0)) {
            depth = other;
            color = with;
        }
    }
    if (planes.color)
        planes.color[i] = color;
    if (planes.depth)
        planes.depth[i] = depth;
}

#if HWY_TARGET != HWY_SCALAR
template <bool streams, class D>
HWY_INLINE void write(hn::Vec<D> v, D d, hn::TFromD<D>* to) {
    if constexpr (streams)
        hn::Stream(v, d, to);
    else
        hn::StoreU(v, d, to);
}

/// Composites whole vectors from pixel `first` on; returns the first remaining pixel.
template <bool colored, bool streams>
HWY_INLINE Elements keep_nearest_vectors(const NearestPlanes& planes, Elements first,
                                         Elements count) {
    const Words words;
    const Depths floats;
    const auto lanes = static_cast<Elements>(hn::Lanes(words));
    const auto background = hn::Set(words, planes.background);
    const auto opacity = hn::Set(words, 0xff000000U);
    const auto none = hn::Zero(words);
    const auto one = hn::Set(floats, 1.F);
    Elements i = first;
    for (; i + lanes <= count; i += lanes) {
        auto depth = one;
        auto color = background;
        for (std::size_t k = 0; k < planes.images; ++k) {
            const auto other = hn::LoadU(floats, planes.depths[k] + i);
            if constexpr (colored) {
                const auto with = hn::LoadU(words, planes.colors[k] + i);
                const auto was_clear = hn::Eq(hn::And(color, opacity), none);
                const auto is_clear = hn::Eq(hn::And(with, opacity), none);
                const auto equal = hn::And(hn::Eq(other, depth), hn::Lt(depth, one));
                const auto wins =
                    hn::Or(hn::Lt(other, depth),
                           hn::And(equal, hn::RebindMask(floats, hn::AndNot(is_clear, was_clear))));
                color = hn::IfThenElse(hn::RebindMask(words, wins), with, color);
                depth = hn::IfThenElse(wins, other, depth);
            } else {
                depth = hn::IfThenElse(hn::Lt(other, depth), other, depth);
            }
        }
        if constexpr (colored)
            write<streams>(color, words, planes.color + i);
        if (planes.depth)
            write<streams>(depth, floats, planes.depth + i);
    }
    return i;
}

/// True if pixel `i` of a plane is aligned to a vector, or the plane is absent.
template <class Pixel>
bool is_aligned(const Pixel* plane, Elements i) {
    constexpr auto bytes = hn::MaxLanes(Words()) * sizeof(std::uint32_t);
    return !plane || reinterpret_cast<std::uintptr_t>(plane + i) % bytes == 0;
}
#endif

void keep_nearest_all(const NearestPlanes& planes, Elements count) {
    Elements i = 0;
#if HWY_TARGET != HWY_SCALAR
    if (planes.stream) {
        const Elements lanes = hn::MaxLanes(Words()), most = count < lanes ? count : lanes;
        while (i < most && !(is_aligned(planes.color, i) && is_aligned(planes.depth, i)))
            keep_nearest_pixel(planes, i++);
    }
    const bool streams =
        planes.stream && is_aligned(planes.color, i) && is_aligned(planes.depth, i);
    if (planes.color)
        i = streams ? keep_nearest_vectors<true, true>(planes, i, count)
                    : keep_nearest_vectors<true, false>(planes, i, count);
    else
        i = streams ? keep_nearest_vectors<false, true>(planes, i, count)
                    : keep_nearest_vectors<false, false>(planes, i, count);
    if (streams)
        hwy::FlushStream();
#endif
    for (; i < count; ++i)
        keep_nearest_pixel(planes, i);
}

} // namespace sextant::icet::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::icet {

HWY_EXPORT(interleave_all);
HWY_EXPORT(deinterleave_all);
HWY_EXPORT(keep_nearest_all);

void interleave(const std::uint32_t* colors, const float* depths, Elements count,
                RgbaU8DepthF32* to) {
    HWY_DYNAMIC_DISPATCH(interleave_all)(colors, depths, count, to);
}

void deinterleave(const RgbaU8DepthF32* from, Elements count, std::uint32_t background,
                  std::uint32_t* colors, float* depths) {
    HWY_DYNAMIC_DISPATCH(deinterleave_all)(from, count, background, colors, depths);
}

void keep_nearest(const NearestPlanes& planes, Elements count) {
    HWY_DYNAMIC_DISPATCH(keep_nearest_all)(planes, count);
}

} // namespace sextant::icet
#endif
