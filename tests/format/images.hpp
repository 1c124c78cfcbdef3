// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/error.hpp"
#include "sextant/core/image.hpp"

#include <cstring>
#include <string>

#include "tests/support/random.hpp"

namespace sextant::test {

/// An image of arbitrary bits, including NaN, infinities and denormal numbers.
inline Image any_bits(ImageShape shape, ElementFormat element, unsigned seed) {
    Random random(seed);
    Image image(shape, element);
    for (std::byte& byte : image.bytes())
        byte = static_cast<std::byte>(random.number(0, 255));
    return image;
}

/// An image of premultiplied pixels with random colour and opacity in steps of 1/255.
inline Image any_colours(ImageShape shape, unsigned seed) {
    Random random(seed);
    Image image(shape, rgba_f32);
    const auto channel = [&] { return static_cast<float>(random.number(0, 255)) / 255; };
    for (RgbaF32& pixel : image.pixels<RgbaF32>()) {
        const float a = channel();
        pixel = {channel() * a, channel() * a, channel() * a, a};
    }
    return image;
}

/// A smooth image, which compresses like a rendered one.
inline Image gradient(ImageShape shape, ElementFormat element) {
    Image image(shape, element);
    auto* value = reinterpret_cast<float*>(image.bytes().data());
    const auto channels = static_cast<std::int64_t>(element.size) / 4;
    for (std::int64_t y = 0; y < shape.height; ++y) {
        for (std::int64_t x = 0; x < shape.width; ++x) {
            for (std::int64_t c = 0; c < channels; ++c) {
                *value++ = static_cast<float>(x / 4 + y / 4 + c) /
                           static_cast<float>(shape.width + shape.height + channels);
            }
        }
    }
    return image;
}

inline bool same_bits(const Image& a, const Image& b) {
    return a.shape() == b.shape() && a.element() == b.element() &&
           std::memcmp(a.bytes().data(), b.bytes().data(), a.bytes().size()) == 0;
}

/// The message of the InvalidFile that `action` throws, or "nothing was thrown".
template <class Action>
std::string failure(const Action& action) {
    try {
        action();
    } catch (const InvalidFile& error) {
        return error.what();
    }
    return "nothing was thrown";
}

} // namespace sextant::test
