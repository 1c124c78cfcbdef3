// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/printable.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace sextant {

namespace {

/// A character of UTF-8, and its bytes; no bytes where the text is not UTF-8.
struct Character {
    char32_t code = 0;
    std::size_t bytes = 0;
};

Character first_of(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    if (byte(0) < 0x80)
        return {byte(0), 1};
    const std::size_t bytes = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
    if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < bytes)
        return {};
    char32_t code = byte(0) & (0x7f >> bytes);
    for (std::size_t i = 1; i < bytes; ++i) {
        if ((byte(i) & 0xc0) != 0x80)
            return {};
        code = code << 6 | (byte(i) & 0x3f);
    }
    constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = code >= 0xd800 && code <= 0xdfff;
    return code < least[bytes] || code > 0x10ffff || surrogate ? Character{}
                                                               : Character{code, bytes};
}

/// A control character beyond the first 32, which JSON does not escape.
bool is_late_control(char32_t code) {
    return code >= 0x7f && code <= 0x9f;
}

/// Characters that separate lines or change the direction of writing.
bool reorders(char32_t code) {
    return code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

std::string escaped(std::string_view text, bool lines) {
    std::string shown;
    shown.reserve(text.size());
    while (!text.empty()) {
        const Character next = first_of(text);
        const std::size_t bytes = std::max<std::size_t>(next.bytes, 1);
        if (next.bytes == 0)
            shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
        else if (next.code == '\n' && !lines)
            shown += "\\n";
        else if (next.code < 0x20 && next.code != '\n')
            shown += fmt::format("\\x{:02x}", static_cast<unsigned>(next.code));
        else if (is_late_control(next.code) || reorders(next.code))
            shown += fmt::format("\\u{:04x}", static_cast<unsigned>(next.code));
        else
            shown += text.substr(0, bytes);
        text.remove_prefix(bytes);
    }
    return shown;
}

} // namespace

std::string printable(std::string_view text) {
    return escaped(text, false);
}

std::string printable_lines(std::string_view text) {
    return escaped(text, true);
}

std::string shortened(std::string_view text, std::size_t most) {
    return std::string(text.substr(0, most)) + (text.size() > most ? "..." : "");
}

} // namespace sextant
