// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/ticks.hpp"

#include <algorithm>
#include <cmath>

namespace sextant::report {

double tick_of(double range) {
    const double power = std::pow(10.0, std::floor(std::log10(range / 4)));
    for (double step : {5.0, 2.0}) {
        if (range / (step * power) >= 4)
            return step * power;
    }
    return power;
}

int decimals_of(double tick) {
    return std::max(0, -static_cast<int>(std::floor(std::log10(tick) + 1e-9)));
}

} // namespace sextant::report
