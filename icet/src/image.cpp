// SPDX-License-Identifier: BSD-3-Clause
// Functions that access images.
#include "sextant/core/error.hpp"

#include <cmath>
#include <cstring>

#include "context.hpp"

namespace sextant::icet {

namespace {

Pixels* pixels_of(const IceTImage& image) {
    return static_cast<Pixels*>(image.opaque_internals);
}

/// Returns the plane of colours if it has one of these formats.
template <class T>
T* colors(const char* function, const IceTImage& image, std::initializer_list<IceTEnum> formats) {
    return guarded(function, static_cast<T*>(nullptr), [&] {
        Pixels* const pixels = pixels_of(image);
        const IceTEnum format = pixels ? pixels->color_format : ICET_IMAGE_COLOR_NONE;
        for (const IceTEnum allowed : formats) {
            if (format == allowed)
                return reinterpret_cast<T*>(pixels->color.data());
        }
        throw Raised(
            ICET_INVALID_OPERATION,
            fmt::format(
                "the color format of the image is {:#x}, which this function does not support",
                format));
    });
}

template <class T>
T* depths(const char* function, const IceTImage& image) {
    return guarded(function, static_cast<T*>(nullptr), [&] {
        Pixels* const pixels = pixels_of(image);
        if (!pixels || pixels->depth_format != ICET_IMAGE_DEPTH_FLOAT)
            throw Raised(ICET_INVALID_OPERATION, "the image has no depths");
        return reinterpret_cast<T*>(pixels->depth.data());
    });
}

const Pixels& with_color(const IceTImage& image) {
    const Pixels* const pixels = pixels_of(image);
    if (!pixels || pixels->color_format == ICET_IMAGE_COLOR_NONE)
        throw Raised(ICET_INVALID_OPERATION, "the image has no colors");
    return *pixels;
}

const float* floats(const Memory& memory) {
    return reinterpret_cast<const float*>(memory.data());
}

IceTUByte to_byte(float value) {
    return static_cast<IceTUByte>(std::clamp(value, 0.F, 1.F) * 255);
}

} // namespace
} // namespace sextant::icet

using namespace sextant::icet;

extern "C" {

IceTImage icetImageNull(void) {
    return {nullptr};
}
IceTBoolean icetImageIsNull(const IceTImage image) {
    return pixels_of(image) ? ICET_FALSE : ICET_TRUE;
}
IceTEnum icetImageGetColorFormat(const IceTImage image) {
    return pixels_of(image) ? pixels_of(image)->color_format : ICET_IMAGE_COLOR_NONE;
}
IceTEnum icetImageGetDepthFormat(const IceTImage image) {
    return pixels_of(image) ? pixels_of(image)->depth_format : ICET_IMAGE_DEPTH_NONE;
}
IceTSizeType icetImageGetWidth(const IceTImage image) {
    return pixels_of(image) ? pixels_of(image)->width : 0;
}
IceTSizeType icetImageGetHeight(const IceTImage image) {
    return pixels_of(image) ? pixels_of(image)->height : 0;
}
IceTSizeType icetImageGetNumPixels(const IceTImage image) {
    return pixels_of(image) ? static_cast<IceTSizeType>(pixels_of(image)->count()) : 0;
}

IceTUByte* icetImageGetColorub(IceTImage image) {
    return colors<IceTUByte>(__func__, image, {ICET_IMAGE_COLOR_RGBA_UBYTE});
}
IceTUInt* icetImageGetColorui(IceTImage image) {
    return colors<IceTUInt>(__func__, image, {ICET_IMAGE_COLOR_RGBA_UBYTE});
}
IceTFloat* icetImageGetColorf(IceTImage image) {
    return colors<IceTFloat>(__func__, image,
                             {ICET_IMAGE_COLOR_RGBA_FLOAT, ICET_IMAGE_COLOR_RGB_FLOAT});
}
IceTFloat* icetImageGetDepthf(IceTImage image) {
    return depths<IceTFloat>(__func__, image);
}
const IceTUByte* icetImageGetColorcub(const IceTImage image) {
    return colors<const IceTUByte>(__func__, image, {ICET_IMAGE_COLOR_RGBA_UBYTE});
}
const IceTUInt* icetImageGetColorcui(const IceTImage image) {
    return colors<const IceTUInt>(__func__, image, {ICET_IMAGE_COLOR_RGBA_UBYTE});
}
const IceTFloat* icetImageGetColorcf(const IceTImage image) {
    return colors<const IceTFloat>(__func__, image,
                                   {ICET_IMAGE_COLOR_RGBA_FLOAT, ICET_IMAGE_COLOR_RGB_FLOAT});
}
const IceTFloat* icetImageGetDepthcf(const IceTImage image) {
    return depths<const IceTFloat>(__func__, image);
}

void icetImageCopyColorub(const IceTImage image, IceTUByte* color_buffer, IceTEnum color_format) {
    guarded(__func__, [&] {
        const Pixels& pixels = with_color(image);
        if (color_format != ICET_IMAGE_COLOR_RGBA_UBYTE)
            throw Raised(ICET_INVALID_ENUM,
                         fmt::format("{:#x} is not a byte format", color_format));
        const auto count = static_cast<std::size_t>(pixels.count());
        const float* from = floats(pixels.color);
        switch (pixels.color_format) {
        case ICET_IMAGE_COLOR_RGBA_UBYTE:
            std::memcpy(color_buffer, pixels.color.data(), 4 * count);
            break;
        case ICET_IMAGE_COLOR_RGBA_FLOAT:
            for (std::size_t i = 0; i < 4 * count; ++i)
                color_buffer[i] = to_byte(from[i]);
            break;
        default:
            for (std::size_t i = 0; i < count; ++i) {
                for (std::size_t channel = 0; channel < 3; ++channel)
                    color_buffer[4 * i + channel] = to_byte(from[3 * i + channel]);
                color_buffer[4 * i + 3] = 255;
            }
        }
    });
}

void icetImageCopyColorf(const IceTImage image, IceTFloat* color_buffer, IceTEnum color_format) {
    guarded(__func__, [&] {
        const Pixels& pixels = with_color(image);
        if (color_format != ICET_IMAGE_COLOR_RGBA_FLOAT &&
            color_format != ICET_IMAGE_COLOR_RGB_FLOAT)
            throw Raised(ICET_INVALID_ENUM,
                         fmt::format("{:#x} is not a float format", color_format));
        const std::size_t to_channels = color_format == ICET_IMAGE_COLOR_RGBA_FLOAT ? 4 : 3;
        const std::size_t channels = pixels.color_format == ICET_IMAGE_COLOR_RGB_FLOAT ? 3 : 4;
        const bool bytes = pixels.color_format == ICET_IMAGE_COLOR_RGBA_UBYTE;
        const auto count = static_cast<std::size_t>(pixels.count());
        const float* from = floats(pixels.color);
        const auto* levels = reinterpret_cast<const IceTUByte*>(pixels.color.data());
        for (std::size_t i = 0; i < count; ++i) {
            for (std::size_t channel = 0; channel < to_channels; ++channel) {
                float value = 1;
                if (channel < channels)
                    value = bytes ? static_cast<float>(levels[channels * i + channel]) / 255
                                  : from[channels * i + channel];
                color_buffer[to_channels * i + channel] = value;
            }
        }
    });
}

void icetImageCopyDepthf(const IceTImage image, IceTFloat* depth_buffer, IceTEnum depth_format) {
    guarded(__func__, [&] {
        const Pixels* const pixels = pixels_of(image);
        if (!pixels || pixels->depth_format == ICET_IMAGE_DEPTH_NONE)
            throw Raised(ICET_INVALID_OPERATION, "the image has no depths");
        if (depth_format != ICET_IMAGE_DEPTH_FLOAT)
            throw Raised(ICET_INVALID_ENUM,
                         fmt::format("{:#x} is not a depth format", depth_format));
        std::memcpy(depth_buffer, pixels->depth.data(),
                    static_cast<std::size_t>(pixels->count()) * sizeof(float));
    });
}

} // extern "C"
