// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/element.hpp"
#include "sextant/core/operator.hpp"

#include "context.hpp"

// Conversions between IceT's images, which have separate planes of colours and depths, and the
// pixels for compositing. A pixel is empty if its depth is 1 or more or, in blending, if it is
// transparent.
namespace sextant::icet {

/// The operator that composites pixels, and their format.
struct Composition {
    std::string blend;
    ElementFormat element;
};

/// The composition for these formats. Throws Raised if IceT does not support them.
Composition composition_of(IceTEnum color_format, IceTEnum depth_format, IceTEnum mode);

/// Writes `part` of the planes to an image of pixels, at `x`, `y`. The image is `width` pixels
/// wide.
void pack(const Pixels& planes, const Viewport& part, const Composition& composition,
          std::byte* image, IceTInt x, IceTInt y, Elements width);

/// Writes composited pixels to planes, starting at pixel `first` of the planes. When blending, the
/// background is added behind the pixels; otherwise it replaces empty pixels.
void unpack(std::span<const std::byte> pixels, const Composition& composition,
            const Operator& blend, const std::array<IceTFloat, 4>& background, Elements first,
            Pixels& planes);

/// A colour as four bytes.
std::uint32_t word_of(const std::array<IceTFloat, 4>& color);
/// True if this colour changes nothing as a background in this format.
bool is_clear(const std::array<IceTFloat, 4>& color, IceTEnum format);

} // namespace sextant::icet
