// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/fold/pixel_formats.hpp"

#include "sextant/kernel/fold/catalogue.hpp"
#include "sextant/kernel/pixel_fold.hpp"

namespace sextant::kernel {

namespace {

template <class Pixel>
constexpr bool has_depth = requires(Pixel pixel) {
    pixel.depth;
};

float as_float(float channel) {
    return channel;
}
float as_float(Half channel) {
    return to_float(channel);
}
float as_float(std::uint8_t channel) {
    return static_cast<float>(channel) / 255;
}

void assign(float& channel, float value) {
    channel = value;
}
void assign(Half& channel, float value) {
    channel = to_half(value);
}
void assign(std::uint8_t& channel, float value) {
    channel = nearest_step(255 * value);
}

template <class To, class From>
To converted(const From& pixel) {
    To result;
    assign(result.r, as_float(pixel.r));
    assign(result.g, as_float(pixel.g));
    assign(result.b, as_float(pixel.b));
    assign(result.a, as_float(pixel.a));
    if constexpr (has_depth<To> && has_depth<From>)
        result.depth = pixel.depth;
    return result;
}

} // namespace

void convert(const ElementFormat& from, std::span<const std::byte> pixels, const ElementFormat& to,
             std::span<std::byte> result) {
    with_pixel_type(from, [&]<class From>(From) {
        with_pixel_type(to, [&]<class To>(To) {
            if constexpr (has_depth<To> && !has_depth<From>)
                throw std::logic_error(
                    "pixels without depth cannot be converted to a format with depth");
            const auto* const source = reinterpret_cast<const From*>(pixels.data());
            auto* const target = reinterpret_cast<To*>(result.data());
            for (std::size_t i = 0; i < pixels.size() / sizeof(From); ++i)
                target[i] = converted<To>(source[i]);
        });
    });
}

namespace {

/// `background` is in the units of the format.
template <class Pixel>
Pixel behind(const Pixel& pixel, const RgbaF32& background) {
    return Wide<Pixel>::narrow(over(Wide<Pixel>::widen(pixel), background, Wide<Pixel>::opaque));
}

RgbaDepthF32 behind(const RgbaDepthF32& pixel, const RgbaF32& background) {
    const RgbaF32 sum = behind(RgbaF32{pixel.r, pixel.g, pixel.b, pixel.a}, background);
    return {sum.r, sum.g, sum.b, sum.a, pixel.depth};
}

RgbaU8DepthF32 behind(const RgbaU8DepthF32& pixel, const RgbaF32& background) {
    const RgbaU8 sum = behind(RgbaU8{pixel.r, pixel.g, pixel.b, pixel.a}, background);
    return {sum.r, sum.g, sum.b, sum.a, pixel.depth};
}

} // namespace

void put_behind(const ElementFormat& element, std::span<const std::byte> picture,
                const RgbaF32& background, std::span<std::byte> to) {
    const bool levels = element == rgba_u8 || element == rgba_u8_depth_f32;
    const float unit = levels ? Wide<RgbaU8>::opaque : 1;
    const RgbaF32 scaled{unit * background.r, unit * background.g, unit * background.b,
                         unit * background.a};
    with_pixel_type(element, [&]<class Pixel>(Pixel) {
        const auto* from = reinterpret_cast<const Pixel*>(picture.data());
        auto* const result = reinterpret_cast<Pixel*>(to.data());
        for (std::size_t i = 0; i < picture.size() / sizeof(Pixel); ++i)
            result[i] = behind(from[i], scaled);
    });
}

} // namespace sextant::kernel
