// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/fold/catalogue.hpp"
#include "sextant/kernel/pixel_fold.hpp"

#include <cstring>
#include <limits>
#include <vector>

#include "tests/support/random.hpp"
#include <gtest/gtest.h>

// The operators with all element types, each with test pixels and a reference fold.
namespace sextant::test {

inline constexpr float infinity = std::numeric_limits<float>::infinity();
inline constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

/// Premultiplied colour, sometimes opaque or transparent.
inline RgbaF32 random_colour(Random& random) {
    const float a = random.chance(30) ? random.number(0, 1) : random.number(0, 999) / 1000.0f;
    const auto colour = [&] { return a * (random.number(0, 1000) / 1000.0f); };
    return {colour(), colour(), colour(), a};
}

/// Arbitrary bits, including denormals, infinities and all kinds of NaN.
inline float random_float(Random& random) {
    static const std::vector<float> odd = {
        0.0f,  -0.0f,     1.0f,       -1.0f,        0x1p-149f,     -0x1p-130f, 0x1.fffffep127f,
        255.f, -infinity, +infinity,  not_a_number, -not_a_number, 65504.0f,   65520.0f,
        0.5f,  0x1p-24f,  0x1.8p-25f, 0x1p-25f};
    if (random.chance(40))
        return random.pick(odd);
    return std::bit_cast<float>(static_cast<std::uint32_t>(random.between(0, 0xffffffff)));
}

inline float random_depth(Random& random) {
    static const std::vector<float> depths = {1,     2,         3,        -1,          -0.0f,
                                              +0.0f, -infinity, infinity, not_a_number};
    return random.pick(depths);
}

/// Random pixels: `usual` ones are colours, `odd` ones have arbitrary bits.
template <class Pixel>
struct Pixels;

template <>
struct Pixels<RgbaF32> {
    static constexpr ElementFormat element = rgba_f32;
    static RgbaF32 usual(Random& random) { return random_colour(random); }
    static RgbaF32 odd(Random& random) {
        if (random.chance(30))
            return usual(random);
        const auto channel = [&] { return random_float(random); };
        return {channel(), channel(), channel(), channel()};
    }
};

template <>
struct Pixels<RgbaF16> {
    static constexpr ElementFormat element = rgba_f16;
    static RgbaF16 usual(Random& random) {
        return kernel::Wide<RgbaF16>::narrow(random_colour(random));
    }
    static RgbaF16 odd(Random& random) {
        if (random.chance(30))
            return usual(random);
        const auto channel = [&] {
            return Half{static_cast<std::uint16_t>(random.number(0, 0xffff))};
        };
        return {channel(), channel(), channel(), channel()};
    }
};

template <>
struct Pixels<RgbaU8> {
    static constexpr ElementFormat element = rgba_u8;
    static RgbaU8 usual(Random& random) {
        const RgbaF32 colour = random_colour(random);
        return kernel::Wide<RgbaU8>::narrow(
            {255 * colour.r, 255 * colour.g, 255 * colour.b, 255 * colour.a});
    }
    static RgbaU8 odd(Random& random) {
        if (random.chance(30))
            return usual(random);
        const auto channel = [&] { return static_cast<std::uint8_t>(random.number(0, 255)); };
        return {channel(), channel(), channel(), channel()};
    }
};

template <>
struct Pixels<RgbaDepthF32> {
    static constexpr ElementFormat element = rgba_depth_f32;
    static RgbaDepthF32 usual(Random& random) {
        const RgbaF32 colour = random_colour(random);
        return {colour.r, colour.g, colour.b, colour.a, random_depth(random)};
    }
    static RgbaDepthF32 odd(Random& random) {
        const RgbaF32 colour = Pixels<RgbaF32>::odd(random);
        const float depth = random.chance(50) ? random_depth(random) : random_float(random);
        return {colour.r, colour.g, colour.b, colour.a, depth};
    }
};

template <>
struct Pixels<RgbaU8DepthF32> {
    static constexpr ElementFormat element = rgba_u8_depth_f32;
    static RgbaU8DepthF32 usual(Random& random) {
        const RgbaU8 colour = Pixels<RgbaU8>::usual(random);
        return {colour.r, colour.g, colour.b, colour.a, random_depth(random)};
    }
    static RgbaU8DepthF32 odd(Random& random) {
        RgbaU8DepthF32 pixel = usual(random);
        pixel.depth = random.chance(50) ? pixel.depth : random_float(random);
        return pixel;
    }
};

template <class P>
struct Over {
    using Pixel = P;
    static constexpr const char* name = "over";
    static RgbaF32 combine(const RgbaF32& front, const RgbaF32& back) {
        return kernel::over(front, back, kernel::Wide<P>::opaque);
    }
};

template <class P>
struct Nearest {
    using Pixel = P;
    static constexpr const char* name = "nearest";
    static P combine(const P& first, const P& second) { return kernel::nearest(first, second); }
};

template <class P>
struct Add {
    using Pixel = P;
    static constexpr const char* name = "add";
    static RgbaF32 combine(const RgbaF32& first, const RgbaF32& second) {
        return kernel::add(first, second);
    }
};

template <class P>
struct Max {
    using Pixel = P;
    static constexpr const char* name = "max";
    static RgbaF32 combine(const RgbaF32& first, const RgbaF32& second) {
        return kernel::max(first, second);
    }
};

using Kinds = testing::Types<Over<RgbaF32>, Over<RgbaF16>, Over<RgbaU8>, Nearest<RgbaDepthF32>,
                             Nearest<RgbaU8DepthF32>, Add<RgbaF32>, Add<RgbaF16>, Add<RgbaU8>,
                             Max<RgbaF32>, Max<RgbaF16>, Max<RgbaU8>>;

template <class Kind>
const Operator& operator_of() {
    return kernel::find(Kind::name, Pixels<typename Kind::Pixel>::element);
}

template <class Pixel>
std::byte* bytes_of(std::vector<Pixel>& pixels, std::size_t first = 0) {
    return reinterpret_cast<std::byte*>(pixels.data() + first);
}

/// True if all bits are equal: a NaN equals itself, and −0 differs from 0.
template <class Pixel>
bool same_bits(const Pixel* a, const Pixel* b, Elements elements) {
    return elements == 0 ||
           std::memcmp(a, b, static_cast<std::size_t>(elements) * sizeof(Pixel)) == 0;
}
template <class Pixel>
bool same_bits(const std::vector<Pixel>& a, const std::vector<Pixel>& b, Elements elements) {
    return same_bits(a.data(), b.data(), elements);
}

/// Layers of pixels; each ends with one more pixel, which no fold may write.
template <class Kind>
class Layers {
  public:
    using Pixel = typename Kind::Pixel;

    Layers(int count, Elements elements, unsigned seed, bool odd = true) : elements_(elements) {
        Random random(seed);
        for (int k = 0; k < count; ++k) {
            layers_.emplace_back();
            for (Elements i = 0; i <= elements; ++i) {
                layers_.back().push_back(odd ? Pixels<Pixel>::odd(random)
                                             : Pixels<Pixel>::usual(random));
            }
        }
    }

    std::vector<Pixel>& operator[](int k) { return layers_[static_cast<std::size_t>(k)]; }
    Elements elements() const { return elements_; }

    /// The result of the reference fold; a copy if there is a single layer.
    std::vector<Pixel> folded_plainly() const {
        std::vector<Pixel> sum(layers_[0].begin(), layers_[0].end() - 1);
        if (layers_.size() > 1)
            kernel::fold_plainly<Pixel>(sources(), bytes_of(sum), 0, elements_, Kind::combine);
        return sum;
    }

    std::vector<const std::byte*> sources(std::size_t first = 0) const {
        std::vector<const std::byte*> bytes;
        for (const auto& layer : layers_)
            bytes.push_back(reinterpret_cast<const std::byte*>(layer.data() + first));
        return bytes;
    }

  private:
    Elements elements_;
    std::vector<std::vector<Pixel>> layers_;
};

} // namespace sextant::test
