// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/contour/one_level_direct.hpp"

#include <algorithm>

namespace sextant::contour {

Stages one_level_direct(const Grid& grid) {
    Stages stages;
    for (const Digit column : digits(grid.columns))
        stages.push_back({column, {}});
    for (const Digit row : digits(grid.rows))
        stages.push_back({{}, row});
    std::reverse(stages.begin(), stages.end());
    return stages;
}

} // namespace sextant::contour
