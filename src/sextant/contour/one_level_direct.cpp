// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/contour/one_level_direct.hpp"

#include "sextant/contour/log_level_quad.hpp"

#include <algorithm>

namespace sextant::contour {

Stages one_level_direct(const Grid& grid) {
    Stages stages = log_level_quad(grid);
    std::reverse(stages.begin(), stages.end());
    return stages;
}

} // namespace sextant::contour
