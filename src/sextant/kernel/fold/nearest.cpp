// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/fold/catalogue.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/kernel/fold/nearest.cpp"
#include "sextant/kernel/lanes-inl.hpp"

#if HWY_TARGET != HWY_SCALAR
HWY_BEFORE_NAMESPACE();
namespace sextant::kernel::HWY_NAMESPACE {

/// A block has one pixel per lane of a vector, in `channels` vectors of 32-bit channels. A pixel's
/// last channel is its depth; the channel before it, or the upper byte of that channel, is the
/// opacity. Winners are chosen for all pixels of a block at once, without data-dependent branches:
/// depths and opacities are each gathered into one vector, and the mask of winners is spread to the
/// channels.
template <int channels>
class Blocks {
  public:
    static constexpr int lanes = static_cast<int>(hn::MaxLanes(Floats()));

    struct Block {
        FloatVector channel[channels];
    };
    /// The data that determine the winner: each pixel's depth, and whether the pixel is
    /// transparent.
    struct Key {
        FloatVector depth;
        hn::Mask<Floats> transparent;
    };

    Blocks() {
        for (int v = 0; v < channels; ++v) {
            HWY_ALIGN std::int32_t pixel[lanes];
            for (int l = 0; l < lanes; ++l)
                pixel[l] = (v * lanes + l) / channels;
            pixel_of_[v] = hn::Load(Integers(), pixel);
        }
        depth_ = gathering(channels - 1);
        opacity_ = gathering(channels - 2);
    }

    HWY_INLINE Block load(const std::byte* from) const {
        Block block;
        for (int v = 0; v < channels; ++v)
            block.channel[v] =
                hn::LoadU(Floats(), reinterpret_cast<const float*>(from) + v * lanes);
        return block;
    }

    HWY_INLINE void save(const Block& block, std::byte* to, bool stream) const {
        for (int v = 0; v < channels; ++v)
            store(block.channel[v], Floats(), reinterpret_cast<float*>(to) + v * lanes, stream);
    }

    HWY_INLINE Key key(const Block& block) const {
        return {gather(block, depth_), transparent(gather(block, opacity_))};
    }

    /// Applies nearest() to each pixel.
    HWY_INLINE void keep_nearest(Block& block, Key& key, const Block& other,
                                 const Key& others) const {
        const auto nearer = hn::Lt(others.depth, key.depth);
        const auto better = hn::And(hn::Eq(others.depth, key.depth),
                                    hn::AndNot(others.transparent, key.transparent));
        const auto first_lost = hn::AndNot(hn::IsNaN(others.depth), hn::IsNaN(key.depth));
        const auto wins = hn::Or(hn::Or(nearer, better), first_lost);
        key.depth = hn::IfThenElse(wins, others.depth, key.depth);
        key.transparent =
            hn::Or(hn::And(wins, others.transparent), hn::AndNot(wins, key.transparent));
        const auto verdict = hn::VecFromMask(Floats(), wins);
        for (int v = 0; v < channels; ++v) {
            const auto index = hn::IndicesFromVec(Floats(), pixel_of_[v]);
            const auto own = hn::MaskFromVec(hn::TableLookupLanes(verdict, index));
            block.channel[v] = hn::IfThenElse(own, other.channel[v], block.channel[v]);
        }
    }

  private:
    using Integers = hn::RebindToSigned<Floats>;

    /// The positions of one channel of each pixel in a block.
    struct Gathering {
        hn::Vec<Integers> vector, lane;
    };

    static Gathering gathering(int channel) {
        HWY_ALIGN std::int32_t vector[lanes], lane[lanes];
        for (int l = 0; l < lanes; ++l) {
            vector[l] = (l * channels + channel) / lanes;
            lane[l] = (l * channels + channel) % lanes;
        }
        return {hn::Load(Integers(), vector), hn::Load(Integers(), lane)};
    }

    static HWY_INLINE FloatVector gather(const Block& block, const Gathering& where) {
        const Floats d;
        const auto index = hn::IndicesFromVec(d, where.lane);
        auto gathered = hn::TableLookupLanes(block.channel[0], index);
        for (int v = 1; v < channels; ++v) {
            const auto here = hn::RebindMask(d, hn::Eq(where.vector, hn::Set(Integers(), v)));
            gathered =
                hn::IfThenElse(here, hn::TableLookupLanes(block.channel[v], index), gathered);
        }
        return gathered;
    }

    static HWY_INLINE hn::Mask<Floats> transparent(FloatVector opacity) {
        const Floats d;
        if constexpr (channels == 5) {
            return hn::Eq(opacity, hn::Zero(d));
        } else { // the opacity is the upper byte of the colour
            const auto level =
                hn::ShiftRight<24>(hn::BitCast(hn::RebindToUnsigned<Floats>(), opacity));
            return hn::RebindMask(d, hn::Eq(level, hn::Zero(hn::RebindToUnsigned<Floats>())));
        }
    }

    hn::Vec<Integers> pixel_of_[channels];
    Gathering depth_, opacity_;
};

template <int channels>
HWY_INLINE Elements fold_nearest(const Operands& operands, Elements first, Elements last) {
    const Blocks<channels> blocks;
    constexpr Elements pixels = Blocks<channels>::lanes, size = 4 * channels;
    Elements i = first;
    for (; i + pixels <= last; i += pixels) {
        auto sum = blocks.load(operands.sources[0] + i * size);
        auto key = blocks.key(sum);
        for (std::size_t k = 1; k < operands.count; ++k) {
            const auto other = blocks.load(operands.sources[k] + i * size);
            blocks.keep_nearest(sum, key, other, blocks.key(other));
        }
        blocks.save(sum, operands.to + i * size, operands.stream);
    }
    if (operands.stream)
        hwy::FlushStream();
    return i;
}

Elements nearest_f32(const Operands& operands, Elements first, Elements last) {
    return fold_nearest<5>(operands, first, last);
}

Elements nearest_u8(const Operands& operands, Elements first, Elements last) {
    return fold_nearest<2>(operands, first, last);
}

} // namespace sextant::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace sextant::kernel {

SEXTANT_EXPORT(nearest_f32);
SEXTANT_EXPORT(nearest_u8);

std::span<const Operator> nearest_operators() {
    constexpr std::string_view summary = "keep the sample nearest to the viewer, with its colour";
    constexpr float infinity = std::numeric_limits<float>::infinity();
    static const Operator operators[] = {
        {"nearest", summary, rgba_depth_f32, false, true,
         folding<RgbaDepthF32>(SEXTANT_BEST(nearest_f32), nearest<RgbaDepthF32>),
         filling(RgbaDepthF32{0, 0, 0, 0, infinity})},
        {"nearest", summary, rgba_u8_depth_f32, false, true,
         folding<RgbaU8DepthF32>(SEXTANT_BEST(nearest_u8), nearest<RgbaU8DepthF32>),
         filling(RgbaU8DepthF32{0, 0, 0, 0, infinity})},
    };
    return operators;
}

} // namespace sextant::kernel
#endif
