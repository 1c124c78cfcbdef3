// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/machines/quantity.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/number_text.hpp"
#include "sextant/core/printable.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace sextant::operation {

namespace {

struct Unit {
    std::string_view name;
    double factor;
};

/// A number and its unit.
template <std::size_t N>
double quantity(std::string_view option, const std::string& text, const Unit (&units)[N],
                double least, double most, std::string_view expected) {
    const auto end = std::min(text.find_first_not_of("0123456789.eE+-"), text.size());
    const auto number = parsed_number<double>(std::string_view(text).substr(0, end));
    for (const Unit& unit : units) {
        const double value = number.value_or(0) * unit.factor;
        if (unit.name == std::string_view(text).substr(end) && value >= least && value <= most)
            return value;
    }
    throw InvalidTask(fmt::format("{} is '{}', expected {}", option, shortened(text), expected));
}

} // namespace

Seconds duration_from(std::string_view option, const std::string& text) {
    constexpr Unit units[] = {{"s", 1}, {"ms", 1e-3}, {"m", 60}, {"min", 60}};
    constexpr double a_millisecond = 1e-3, a_day = 86400;
    return quantity(option, text, units, a_millisecond, a_day,
                    "a time from 1ms to 1440m, as 60s, 500ms or 2m");
}

double share_from(std::string_view option, const std::string& text) {
    constexpr Unit units[] = {{"%", .01}};
    return quantity(option, text, units, 1e-4, 1, "a share from .01% to 100%, as 2%");
}

} // namespace sextant::operation
