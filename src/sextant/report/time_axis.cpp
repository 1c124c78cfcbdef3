// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/time_axis.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sextant::report {

namespace {

/// The time between ticks: 1, 2 or 5 times a power of ten, for four to ten ticks.
Seconds tick_of(Seconds duration) {
    const double power = std::pow(10.0, std::floor(std::log10(duration / 4)));
    for (double step : {5.0, 2.0}) {
        if (duration / (step * power) >= 4)
            return step * power;
    }
    return power;
}

} // namespace

void add_time_axis_styles(Svg& svg) {
    svg.colour(".tick", "stroke", {"#e1e5ea", "#2c333c"});
}

void add_time_axis(Svg& svg, const Lanes& lanes, Seconds duration, double width) {
    if (duration <= 0)
        return;
    const Seconds tick = tick_of(duration);
    const bool milliseconds = duration < 1, microseconds = duration < 1e-3,
               nanoseconds = duration < 1e-6;
    const double scale = nanoseconds ? 1e9 : microseconds ? 1e6 : milliseconds ? 1e3 : 1;
    const char* unit = nanoseconds ? "ns" : microseconds ? "µs" : milliseconds ? "ms" : "s";
    const int decimals =
        std::max(0, -static_cast<int>(std::floor(std::log10(tick * scale) + 1e-9)));
    for (int i = 0; i * tick <= duration * (1 + 1e-9); ++i) {
        const double x = lanes.begin + i * tick * width / duration;
        svg.line(x, lanes.top, x, lanes.bottom(), "tick");
        lanes.add_axis_label(svg, x, fmt::format("{:.{}f}", i * tick * scale, decimals));
    }
    lanes.add_axis_name(svg, fmt::format("time, {}", unit));
}

} // namespace sextant::report
