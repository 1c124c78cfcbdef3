// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sextant::report {

/// Escapes text for an element or a quoted attribute of XML or HTML. Bytes that are not UTF-8 (file
/// names can contain any bytes), and control characters that XML forbids or discourages, become
/// U+FFFD.
std::string escape(std::string_view text);

/// Returns the text, shortened if necessary to `characters` characters, the last of which is "…".
std::string shortened(std::string_view text, std::size_t characters);

/// Formats a number with thousands separators: "4,480,000".
std::string grouped(std::int64_t number);

/// Returns "1 message" or "56 messages".
std::string counted(std::int64_t number, std::string_view thing);

/// The unit of a time and the number of units per second: the largest unit in which the time is at
/// least 1, or nanoseconds.
struct TimeUnit {
    const char* name;
    double per_second;
};
TimeUnit unit_of(Seconds duration);

/// Formats a time with three significant digits and a unit: "12.3 µs", "4.50 ms", "2.00 s".
std::string to_text(Seconds duration);

/// Formats a correlation with three decimals or, if it is nearly 1, as many as show two significant
/// digits of its difference from 1: "0.834", "0.99957".
std::string correlation_to_text(double correlation);

/// Formats bytes with three significant digits and decimal units: "12.3 kB", "4.50 GB".
std::string bytes_to_text(double bytes);

/// Encodes bytes as Base64 with padding, for data URIs.
std::string base64(std::span<const std::byte> bytes);

} // namespace sextant::report
