// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace sextant {

/// A text from a file or an argument as a terminal may show it: control characters, characters that
/// change the direction of writing and bytes that are not UTF-8 are escaped, as "\n", "\x1b" and
/// "\u202e". Everything else stays, backslashes too.
std::string printable(std::string_view text);

/// The same of several lines: line feeds stay. JSON stays JSON of the same values.
std::string printable_lines(std::string_view text);

/// The first `most` bytes of a text, and "..." if it is longer.
std::string shortened(std::string_view text, std::size_t most = 60);

} // namespace sextant
