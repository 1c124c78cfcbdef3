// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/element.hpp"
#include "sextant/core/operator.hpp"

#include "context.hpp"

// Conversions between IceT's images, whose colours and depths are separate planes, and the pixels
// that are composited. A pixel of depth 1 or more is empty, and so is a transparent one in
// blending.
namespace sextant::icet {

/// The operator that composites pixels, and their format.
struct Composition {
    std::string blend;
    ElementFormat element;
};

/// The composition for these formats. Throws Raised if IceT does not composite them.
Composition composition_of(IceTEnum color_format, IceTEnum depth_format, IceTEnum mode);

/// Writes `part` of the planes to an image of pixels: at `x`, `y` in an image `width` pixels wide.
void pack(const Pixels& planes, const Viewport& part, const Composition& composition,
          std::byte* image, IceTInt x, IceTInt y, Elements width);

/// Writes composited pixels to planes, from pixel `first` of these on. The background is behind
/// blended pixels, and in place of empty ones otherwise.
void unpack(std::span<const std::byte> pixels, const Composition& composition,
            const Operator& blend, const std::array<IceTFloat, 4>& background, Elements first,
            Pixels& planes);

/// A colour as four bytes.
std::uint32_t word_of(const std::array<IceTFloat, 4>& color);
/// True if a colour of this format, behind other pixels, changes nothing.
bool is_clear(const std::array<IceTFloat, 4>& color, IceTEnum format);

} // namespace sextant::icet
