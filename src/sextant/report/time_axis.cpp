// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/time_axis.hpp"

#include "sextant/report/ticks.hpp"

#include <fmt/format.h>

namespace sextant::report {

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
    const int decimals = decimals_of(tick * scale);
    for (int i = 0; i * tick <= duration * (1 + 1e-9); ++i) {
        const double x = lanes.begin + i * tick * width / duration;
        svg.line(x, lanes.top, x, lanes.bottom(), "tick");
        lanes.add_axis_label(svg, x, fmt::format("{:.{}f}", i * tick * scale, decimals));
    }
    lanes.add_axis_name(svg, fmt::format("time, {}", unit));
}

} // namespace sextant::report
