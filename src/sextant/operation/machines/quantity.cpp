// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/machines/quantity.hpp"

#include "sextant/core/error.hpp"

#include <cstdlib>

#include <fmt/format.h>

namespace sextant::operation {

namespace {

struct Unit {
    std::string_view name;
    double factor;
};

/// A number and its unit, above nothing and at most `most`.
template <std::size_t N>
double quantity(std::string_view option, const std::string& text, const Unit (&units)[N],
                double most, std::string_view expected) {
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    for (const Unit& unit : units) {
        const double value = number * unit.factor;
        if (end != text.c_str() && unit.name == end && value > 0 && value <= most)
            return value;
    }
    throw InvalidTask(fmt::format("{} is '{}', expected {}", option, text, expected));
}

} // namespace

Seconds duration_from(std::string_view option, const std::string& text) {
    constexpr Unit units[] = {{"s", 1}, {"ms", 1e-3}, {"m", 60}, {"min", 60}};
    constexpr double a_day = 86400;
    return quantity(option, text, units, a_day, "a time above nothing, as 60s, 500ms or 2m");
}

double share_from(std::string_view option, const std::string& text) {
    constexpr Unit units[] = {{"%", .01}};
    return quantity(option, text, units, 1, "a share above nothing, as 2%, at most 100%");
}

} // namespace sextant::operation
