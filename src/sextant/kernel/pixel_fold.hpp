// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/element.hpp"
#include "sextant/core/operator.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace sextant::kernel {

/// Conversions of a pixel format for folds. Operands are widened to floats, exactly, and combined
/// in floats one after another. The sum is narrowed once, at the end of the fold:
///
/// f32   unchanged, but every NaN becomes the quiet NaN 0x7fc00000, since processors differ in
///       which of two NaN operands a sum returns
/// f16   rounded to nearest, ties to even; NaN becomes 0x7e00
/// u8    computed in steps of 1/255; clamped to [0, 255], rounded to nearest, ties to even
///
/// For two u8 pixels, the result of `over` is the correctly rounded quotient by 255: no sum is
/// close enough to a tie to be rounded the wrong way.
template <class Pixel>
struct Wide;

constexpr float one_nan(float channel) {
    return channel == channel ? channel : std::numeric_limits<float>::quiet_NaN();
}

/// Rounds and clamps to [0, 255]; NaN becomes 0.
constexpr std::uint8_t nearest_step(float channel) {
    constexpr float whole = 0x1.8p23f; // floats of this magnitude are integers: the sum rounds
    if (!(channel > 0))
        return 0;
    return channel >= 255 ? 255 : static_cast<std::uint8_t>((channel + whole) - whole);
}

template <>
struct Wide<RgbaF32> {
    static constexpr float opaque = 1; ///< full opacity in the units of the sum
    static constexpr RgbaF32 widen(const RgbaF32& pixel) { return pixel; }
    static constexpr RgbaF32 narrow(const RgbaF32& sum) {
        return {one_nan(sum.r), one_nan(sum.g), one_nan(sum.b), one_nan(sum.a)};
    }
};

template <>
struct Wide<RgbaF16> {
    static constexpr float opaque = 1;
    static constexpr RgbaF32 widen(const RgbaF16& pixel) {
        return {to_float(pixel.r), to_float(pixel.g), to_float(pixel.b), to_float(pixel.a)};
    }
    static constexpr RgbaF16 narrow(const RgbaF32& sum) {
        return {to_half(sum.r), to_half(sum.g), to_half(sum.b), to_half(sum.a)};
    }
};

template <>
struct Wide<RgbaU8> {
    static constexpr float opaque = 255;
    static constexpr RgbaF32 widen(const RgbaU8& pixel) {
        return {static_cast<float>(pixel.r), static_cast<float>(pixel.g),
                static_cast<float>(pixel.b), static_cast<float>(pixel.a)};
    }
    static constexpr RgbaU8 narrow(const RgbaF32& sum) {
        return {nearest_step(sum.r), nearest_step(sum.g), nearest_step(sum.b), nearest_step(sum.a)};
    }
};

/// Pixels with depth are selected, not computed, so they are not converted.
template <class Pixel>
struct DepthSelection {
    static constexpr const Pixel& widen(const Pixel& pixel) { return pixel; }
    static constexpr const Pixel& narrow(const Pixel& sum) { return sum; }
};
template <>
struct Wide<RgbaDepthF32> : DepthSelection<RgbaDepthF32> {};
template <>
struct Wide<RgbaU8DepthF32> : DepthSelection<RgbaU8DepthF32> {};

// Each operator has a scalar fold, pixel by pixel, and a vector fold that gives the same bits for
// the pixels that fill whole vectors.

using Sources = std::span<const std::byte* const>;

/// Arguments of code that is compiled once per target. Plain data without inline functions, because
/// the linker could use one target's copy of a function for all targets.
struct Operands {
    const std::byte* const* sources;
    std::size_t count; ///< at least two
    std::byte* to;
    bool stream; ///< bypass the caches; `to` is aligned to `stream_alignment` at `first`
};

/// Folds pixels from `first` on, in whole vectors that end at or before `last`. Returns the first
/// pixel that is not folded.
using FoldVectors = Elements (*)(const Operands& operands, Elements first, Elements last);

inline constexpr Bytes stream_alignment = 64;

/// True if an operation that reads and writes this many bytes exceeds the largest cache, so that
/// its result would be evicted before it is used.
bool exceeds_caches(Bytes touched);

/// The first element to be written with stores that bypass the caches, which saves reading the old
/// content: the first aligned element. Returns `elements` (none) if all sources and the result,
/// with `of` elements each, fit in a cache, or if the result is one of the sources or cannot be
/// aligned.
Elements streaming_from(Sources sources, const std::byte* to, Elements elements, Elements of,
                        Bytes size);

/// The scalar fold of elements [first, last); it defines the meaning of an operator's `fold`.
template <class Pixel, class Combine>
void fold_plainly(Sources sources, std::byte* to, Elements first, Elements last, Combine combine) {
    const auto operand = [&](std::size_t k, Elements i) {
        return Wide<Pixel>::widen(reinterpret_cast<const Pixel*>(sources[k])[i]);
    };
    for (Elements i = first; i < last; ++i) {
        auto sum = operand(0, i);
        for (std::size_t k = 1; k < sources.size(); ++k)
            sum = combine(sum, operand(k, i));
        reinterpret_cast<Pixel*>(to)[i] = Wide<Pixel>::narrow(sum);
    }
}

/// Implements Operator::fold: a vector fold, and scalar folds of the pixels before and after the
/// vectors.
template <class Pixel, class Combine>
void fold(Sources sources, std::byte* to, Elements elements, Elements of, FoldVectors vectors,
          Combine combine) {
    if (sources.size() == 1) {
        if (sources[0] != to)
            std::copy_n(sources[0], elements * static_cast<Bytes>(sizeof(Pixel)), to);
        return;
    }
    const Elements aligned = streaming_from(sources, to, elements, of, sizeof(Pixel));
    const bool stream = aligned < elements;
    const Elements first = stream ? aligned : 0;
    fold_plainly<Pixel>(sources, to, 0, first, combine);
    const Elements done = vectors({sources.data(), sources.size(), to, stream}, first, elements);
    fold_plainly<Pixel>(sources, to, done, elements, combine);
}

/// Create Operator::fold and Operator::fill_identity for an entry of the catalogue.
template <class Pixel, class Combine>
auto folding(FoldVectors vectors, Combine combine) {
    return [=](Sources sources, std::byte* to, Elements elements, Elements of) {
        fold<Pixel>(sources, to, elements, of, vectors, combine);
    };
}
template <class Pixel>
auto filling(const Pixel& nothing) {
    return [=](std::byte* to, Elements elements) {
        std::fill_n(reinterpret_cast<Pixel*>(to), elements, nothing);
    };
}

/// The instruction sets, by Highway's names, that kernels are compiled for and this processor
/// supports, best first. Kernels use the first one.
std::vector<std::string> instruction_sets();

} // namespace sextant::kernel
