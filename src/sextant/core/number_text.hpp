// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <type_traits>

namespace sextant {

/// The number that the whole of a text is, in decimal: no spaces, no "+", no hexadecimal, no
/// infinity. A number nearer to 0 than a floating-point number can be is refused too.
template <class Number>
std::optional<Number> parsed_number(std::string_view text) {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    if constexpr (std::is_floating_point_v<Number>) {
        if (!std::isfinite(number))
            return std::nullopt;
    }
    return number;
}

} // namespace sextant
