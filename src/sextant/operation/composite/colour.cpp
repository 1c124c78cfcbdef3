// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/composite/colour.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/number_text.hpp"

#include <array>
#include <optional>
#include <sstream>

#include <fmt/format.h>

namespace sextant::operation {

namespace {

std::optional<std::array<float, 4>> from_hexadecimal(const std::string& text) {
    if (text.size() != 7 && text.size() != 9)
        return std::nullopt;
    if (text.find_first_not_of("0123456789abcdefABCDEF", 1) != std::string::npos)
        return std::nullopt;
    std::array<float, 4> channels = {0, 0, 0, 1};
    for (std::size_t i = 0; 2 * i + 1 < text.size(); ++i) {
        channels[i] =
            static_cast<float>(std::stoi(text.substr(2 * i + 1, 2), nullptr, 16)) / 255.0f;
    }
    return channels;
}

std::optional<std::array<float, 4>> from_numbers(const std::string& text) {
    std::array<float, 4> channels = {0, 0, 0, 1};
    std::size_t count = 0;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ','); ++count) {
        const auto number = parsed_number<double>(part);
        if (count == channels.size() || !number || *number < 0 || *number > 1)
            return std::nullopt;
        channels[count] = static_cast<float>(*number);
    }
    return count >= 3 && !text.ends_with(',') ? std::optional(channels) : std::nullopt;
}

std::optional<std::array<float, 4>> parse(const std::string& text) {
    if (text == "white")
        return std::array<float, 4>{1, 1, 1, 1};
    if (text == "black")
        return std::array<float, 4>{0, 0, 0, 1};
    if (text == "gray" || text == "grey")
        return std::array<float, 4>{.5f, .5f, .5f, 1};
    return text.starts_with('#') ? from_hexadecimal(text) : from_numbers(text);
}

} // namespace

RgbaF32 parse_colour(const std::string& text) {
    const auto channels = parse(text);
    if (!channels) {
        throw InvalidTask(fmt::format("--background {}: expected {}", text, colour_forms));
    }
    const auto& [r, g, b, a] = *channels;
    return {r * a, g * a, b * a, a};
}

} // namespace sextant::operation
