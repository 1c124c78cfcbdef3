// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/error.hpp"
#include "sextant/core/units.hpp"

#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace sextant {

/// Parses a whole text as one decimal number: no spaces, no "+", no hexadecimal, no infinity, and
/// no floating-point number too small to represent.
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

/// A UTF-8 character and its length in bytes; 0 bytes if the text is not UTF-8.
struct Utf8Character {
    char32_t code = 0;
    std::size_t bytes = 0;
};

/// The first character of a text, which must not be empty.
Utf8Character first_character(std::string_view text);

/// Makes a text from a file or an argument safe to show on a terminal: control characters,
/// characters that change the writing direction, and bytes that are not UTF-8 are escaped, for
/// example as "\n", "\x1b" and "\u202e". Everything else is unchanged, including backslashes.
std::string printable(std::string_view text);

/// As printable(), but keeps line feeds. JSON text remains valid and keeps its values.
std::string printable_lines(std::string_view text);

/// The first `most` bytes of a text, followed by "..." if it is longer.
std::string shortened(std::string_view text, std::size_t most = 60);

/// Shortens the text of an error or a note. If the text is long, for example because it quotes a
/// long input, only its beginning and end remain.
std::string bounded_message(std::string_view text);

/// Reads a whole regular file of at most `most` bytes. Throws InvalidFile for anything else: a
/// device or pipe may be endless or never respond.
std::string read_text(const std::string& path, Bytes most);

/// The message for a name that is not in a catalogue: "unknown KIND 'WANTED'; did you mean ...?",
/// or a list of all names if none is similar.
std::string unknown_name(std::string_view kind, std::string_view wanted,
                         std::span<const std::string_view> names);

/// Finds a catalogue row by name. If there is none, throws InvalidTask that suggests similar names.
template <class Row>
const Row& find_by_name(std::string_view kind, std::string_view wanted, std::span<const Row> rows) {
    std::vector<std::string_view> names;
    for (const Row& row : rows) {
        if (row.name == wanted)
            return row;
        names.push_back(row.name);
    }
    throw InvalidTask(unknown_name(kind, wanted, names));
}

} // namespace sextant
