// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sextant::format {

/// An animation of grey pictures, repeated endlessly.
struct Animation {
    static constexpr int levels = 64; ///< levels of grey, from 0 (black) to 63 (white)
    ImageShape shape;
    int milliseconds = 100;                          ///< duration of a picture
    std::vector<std::vector<std::uint8_t>> pictures; ///< levels, row by row
};

/// Encodes an animation as PNG (APNG); programs without support for APNG show its first picture.
/// Requires  at least one picture, of this shape, which is not empty (std::logic_error).
std::string encode_apng(const Animation& animation);
/// Encodes an animation as GIF. Requires the same, and at most 65535 pixels per side.
std::string encode_gif(const Animation& animation);

} // namespace sextant::format
