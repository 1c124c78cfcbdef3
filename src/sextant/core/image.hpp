// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/element.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/core/units.hpp"

#include <cstdint>
#include <span>
#include <stdexcept>

namespace sextant {

/// Width and height in pixels.
struct ImageShape {
    std::int64_t width = 0, height = 0;
    Elements elements() const { return width * height; }
    bool operator==(const ImageShape&) const = default;
};

/// An owned image: row 0 is the top, rows follow one another without padding.
class Image {
  public:
    Image() = default;
    Image(ImageShape shape, ElementFormat element)
        : shape_(shape), element_(element), memory_(shape.elements() * element.size) {}

    ImageShape shape() const { return shape_; }
    const ElementFormat& element() const { return element_; }
    std::span<std::byte> bytes() { return memory_.bytes(); }
    std::span<const std::byte> bytes() const { return memory_.bytes(); }

    /// The pixels as `Pixel`, whose size must be the element's (std::logic_error).
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
            throw std::logic_error("pixels read as another type than the image holds");
        }
    }

    ImageShape shape_;
    ElementFormat element_;
    Memory memory_;
};

} // namespace sextant
