// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/element.hpp"

#include <cstddef>
#include <span>

namespace sextant::kernel {

/// Puts a colour behind a finished picture, once: to[i] = picture[i] over `background`. Depth
/// stays.
///
/// Input     pixels of `element` (std::logic_error if they are no colours); the background
///           premultiplied.
/// Output    as many pixels in `to`, which may be the picture itself; rounded as wide.hpp says.
void put_behind(const ElementFormat& element, std::span<const std::byte> picture,
                const RgbaF32& background, std::span<std::byte> to);

} // namespace sextant::kernel
