// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/text.hpp"

#include "sextant/core/text.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

namespace sextant::report {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD"; // U+FFFD

bool continues(char c) {
    return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

bool allowed_in_xml(char32_t code) {
    if (code < 0x20)
        return code == '\t' || code == '\n' || code == '\r';
    return (code < 0x7F || code > 0x9F) && code != 0xFFFE && code != 0xFFFF;
}

} // namespace

std::string escape(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const Utf8Character next = first_character(text);
        const std::size_t length = next.bytes > 0 ? next.bytes : 1;
        if (next.bytes == 0 || !allowed_in_xml(next.code))
            out += replacement;
        else if (next.code == '<')
            out += "&lt;";
        else if (next.code == '>')
            out += "&gt;";
        else if (next.code == '&')
            out += "&amp;";
        else if (next.code == '"')
            out += "&quot;";
        else if (next.code == '\'')
            out += "&#39;";
        else
            out += text.substr(0, length);
        text.remove_prefix(length);
    }
    return out;
}

std::string shortened(std::string_view text, std::size_t characters) {
    std::size_t seen = 0, cut = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (continues(text[i]))
            continue;
        if (seen + 1 == characters)
            cut = i;
        if (++seen > characters)
            return std::string(text.substr(0, cut)) + "…";
    }
    return std::string(text);
}

std::string grouped(std::int64_t number) {
    std::string digits = std::to_string(number);
    const std::size_t sign = number < 0 ? 1 : 0;
    for (std::size_t i = digits.size(); i > sign + 3;)
        digits.insert(i -= 3, 1, ',');
    return digits;
}

std::string correlation_to_text(double correlation) {
    constexpr double least = 1e-15; // about the resolution of doubles near 1
    const double missing = std::max(1 - std::abs(correlation), least);
    const int decimals = missing < 1 ? 1 - static_cast<int>(std::floor(std::log10(missing))) : 0;
    return fmt::format("{:.{}f}", correlation, correlation == 1 ? 3 : std::max(3, decimals));
}

std::string counted(std::int64_t number, std::string_view thing) {
    std::string plural(thing);
    const bool hisses = thing.ends_with('s') || thing.ends_with('x') || thing.ends_with("ch");
    if (thing.ends_with("py"))
        plural.back() = 'i', plural += "es";
    else
        plural += hisses ? "es" : "s";
    return fmt::format("{} {}", grouped(number), number == 1 ? thing : plural);
}

TimeUnit unit_of(Seconds duration) {
    if (duration >= 1)
        return {"s", 1};
    if (duration >= 1e-3)
        return {"ms", 1e3};
    return duration >= 1e-6 ? TimeUnit{"µs", 1e6} : TimeUnit{"ns", 1e9};
}

std::string to_text(Seconds duration) {
    if (duration == 0)
        return "0 s";
    const double size = std::abs(duration);
    const auto [unit, scale] = unit_of(size / 0.9995); // shows 999.9 ms as 1 s
    const double shown = size * scale;
    const int decimals = shown < 9.995 ? 2 : shown < 99.95 ? 1 : 0;
    return fmt::format("{:.{}f} {}", duration * scale, decimals, unit);
}

std::string bytes_to_text(double bytes) {
    constexpr const char* units[] = {"B", "kB", "MB", "GB", "TB"};
    std::size_t unit = 0;
    for (; bytes >= 999.5 && unit + 1 < std::size(units); ++unit)
        bytes /= 1000;
    const int decimals = unit == 0 && bytes == std::floor(bytes) ? 0
                         : bytes < 9.995                         ? 2
                         : bytes < 99.95                         ? 1
                                                                 : 0;
    return fmt::format("{:.{}f} {}", bytes, decimals, units[unit]);
}

std::string base64(std::span<const std::byte> bytes) {
    constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t group = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            group = group << 8 |
                    (i + k < bytes.size() ? std::to_integer<std::uint32_t>(bytes[i + k]) : 0);
        }
        for (std::size_t k = 0; k < 4; ++k) {
            out += i + k <= bytes.size() ? digits[group >> (18 - 6 * k) & 63] : '=';
        }
    }
    return out;
}

} // namespace sextant::report
