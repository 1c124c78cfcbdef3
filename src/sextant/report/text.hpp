// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sextant::report {

/// Text that may stand in an element or in a quoted attribute of XML or HTML. Bytes that are no
/// UTF-8 and control characters that XML forbids or discourages become U+FFFD, since file names may
/// hold anything.
std::string escape(std::string_view text);

/// At most `characters` characters of the text, the last of them "…" where some were cut off.
std::string shortened(std::string_view text, std::size_t characters);

/// "4,480,000".
std::string grouped(std::int64_t number);

/// "1 message", "56 messages".
std::string counted(std::int64_t number, std::string_view thing);

/// Three significant digits in a unit that suits: "12.3 µs", "4.50 ms", "2.00 s".
std::string to_text(Seconds duration);

/// Three significant digits of decimal bytes: "12.3 kB", "4.50 GB".
std::string bytes_to_text(double bytes);

/// Base64 with padding, as data URIs take it.
std::string base64(std::span<const std::byte> bytes);

} // namespace sextant::report
