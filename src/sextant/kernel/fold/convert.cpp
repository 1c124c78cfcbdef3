// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/fold/convert.hpp"

#include "sextant/kernel/fold/pixel_type.hpp"
#include "sextant/kernel/fold/wide.hpp"

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
                throw std::logic_error("a depth is wanted of pixels that have none");
            const auto* const source = reinterpret_cast<const From*>(pixels.data());
            auto* const target = reinterpret_cast<To*>(result.data());
            for (std::size_t i = 0; i < pixels.size() / sizeof(From); ++i)
                target[i] = converted<To>(source[i]);
        });
    });
}

} // namespace sextant::kernel
