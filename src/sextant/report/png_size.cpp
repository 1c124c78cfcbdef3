// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/png_size.hpp"

#include <algorithm>
#include <stdexcept>

namespace sextant::report {

PngSize png_size(std::span<const std::byte> png) {
    constexpr std::uint8_t signature[] = {0x89, 'P', 'N', 'G', 0x0D, 0x0A, 0x1A, 0x0A};
    const auto same = [](std::byte a, std::uint8_t b) { return std::to_integer<int>(a) == b; };
    if (png.size() < 24 || !std::equal(std::begin(signature), std::end(signature), png.begin(),
                                       [&](std::uint8_t a, std::byte b) { return same(b, a); })) {
        throw std::logic_error("the picture of a page is not PNG");
    }
    const auto number = [&](std::size_t at) {
        std::uint32_t value = 0;
        for (std::byte b : png.subspan(at, 4))
            value = value << 8 | std::to_integer<std::uint32_t>(b);
        return value;
    };
    return {number(16), number(20)};
}

} // namespace sextant::report
