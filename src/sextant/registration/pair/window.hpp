// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace sextant::registration {

/// Returns a Tukey window: 1 in the middle, and falling to 0 like a cosine over the fraction
/// `tapered` of its length.
inline std::vector<float> tukey(Elements size, double tapered) {
    std::vector<float> window;
    const double ramp = tapered * static_cast<double>(size) / 2;
    for (Elements i = 0; i < size; ++i) {
        const double from_end = .5 + static_cast<double>(std::min(i, size - 1 - i));
        const double rise = std::min(1., from_end / ramp);
        window.push_back(static_cast<float>((1 - std::cos(std::numbers::pi * rise)) / 2));
    }
    return window;
}

} // namespace sextant::registration
