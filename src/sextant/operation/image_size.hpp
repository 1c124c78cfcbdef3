// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <string>
#include <string_view>

namespace sextant::operation {

struct ImageSize {
    Elements width = 0, height = 0;
};

/// "1920x1080", or "1024" for a square. Throws InvalidTask, naming the option.
ImageSize image_size(std::string_view option, const std::string& text);

} // namespace sextant::operation
