// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/element.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/core/units.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace sextant {

/// Width and height in pixels.
struct ImageShape {
    std::int64_t width = 0, height = 0;
    Elements elements() const { return width * height; }
    bool operator==(const ImageShape&) const = default;
};

/// An image that owns its pixels: row 0 is the top, rows are stored without padding.
class Image {
  public:
    Image() = default;
    Image(ImageShape shape, ElementFormat element)
        : shape_(shape), element_(element), memory_(shape.elements() * element.size) {}

    ImageShape shape() const { return shape_; }
    const ElementFormat& element() const { return element_; }
    std::span<std::byte> bytes() { return memory_.bytes(); }
    std::span<const std::byte> bytes() const { return memory_.bytes(); }

    /// The pixels as `Pixel`, whose size must match the element format (std::logic_error).
    template <class Pixel>
    std::span<Pixel> pixels() {
        check_size(sizeof(Pixel));
        return {reinterpret_cast<Pixel*>(memory_.data()),
                static_cast<std::size_t>(shape_.elements())};
    }
    template <class Pixel>
    std::span<const Pixel> pixels() const {
        check_size(sizeof(Pixel));
        return {reinterpret_cast<const Pixel*>(memory_.data()),
                static_cast<std::size_t>(shape_.elements())};
    }

  private:
    void check_size(std::size_t size) const {
        if (static_cast<Bytes>(size) != element_.size) {
            throw std::logic_error("pixels are accessed as a type other than that of the image");
        }
    }

    ImageShape shape_;
    ElementFormat element_;
    Memory memory_;
};

/// The largest number of pixels of an image, or of all images of a rank together. Sizes computed
/// from it cannot overflow.
inline constexpr Elements most_pixels = Elements{1} << 34;

/// True if `images` images of this shape have more than most_pixels pixels in total.
/// Requires  no negative arguments.
constexpr bool is_too_large(const ImageShape& shape, Elements images = 1) {
    return shape.width > 0 && shape.height > 0 && images > 0 &&
           (shape.width > most_pixels / shape.height ||
            images > most_pixels / (shape.width * shape.height));
}

/// A part of a pixel at one depth, as a premultiplied colour.
using Fragment = RgbaDepthF32;

/// The element format of deep pixels in file headers; their real sizes vary.
inline constexpr ElementFormat deep_f32{"deep rgba+depth f32", sizeof(Fragment)};

constexpr bool is_deep(const ElementFormat& element) {
    return element.name == deep_f32.name;
}

/// A deep image: any number of fragments per pixel, nearest first; row 0 is the top. Depths may be
/// equal or infinite, but not NaN.
struct DeepImage {
    ImageShape shape;
    std::vector<Elements> first;     ///< index of each pixel's first fragment, and of the end
    std::vector<Fragment> fragments; ///< all fragments, in the order of pixels

    std::span<const Fragment> at(Elements pixel) const {
        const auto p = static_cast<std::size_t>(pixel);
        return std::span(fragments).subspan(static_cast<std::size_t>(first[p]),
                                            static_cast<std::size_t>(first[p + 1] - first[p]));
    }
};

/// An image of this shape without fragments.
DeepImage empty_deep_image(ImageShape shape);

/// Describes the first fault of an image, with pixel and value, but without the image's name. Empty
/// if the image has no fault.
/// Cost      one pass.
std::string fault_of(const DeepImage& image);

} // namespace sextant
