// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/composite/phases.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/number_text.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include <fmt/format.h>

namespace sextant::operation {

namespace {

constexpr Seconds most_seconds = 1e6;

/// The seconds of "render=2.5"; not a number where there are none.
double seconds_of(const std::string& part, std::size_t equals) {
    if (equals == 0 || equals == std::string::npos || equals + 1 == part.size())
        return NAN;
    return parsed_number<double>(std::string_view(part).substr(equals + 1)).value_or(NAN);
}

} // namespace

std::vector<CompositeSummary::Phase> phases_before(const std::string& text,
                                                   std::span<const std::string_view> taken) {
    std::vector<CompositeSummary::Phase> phases;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) {
        const std::size_t equals = part.find('=');
        const double seconds = seconds_of(part, equals);
        if (!(seconds >= 0 && seconds <= most_seconds))
            throw InvalidTask(
                fmt::format("--before {}: expected NAME=SECONDS,..., from 0 to {:g} seconds", text,
                            most_seconds));
        const std::string name = part.substr(0, equals);
        const bool twice = std::any_of(phases.begin(), phases.end(),
                                       [&](const auto& phase) { return phase.name == name; });
        if (twice || std::find(taken.begin(), taken.end(), name) != taken.end())
            throw InvalidTask(fmt::format("--before {}: there is a phase {} already", text, name));
        phases.push_back({name, seconds});
    }
    return phases;
}

} // namespace sextant::operation
