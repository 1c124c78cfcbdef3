// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/contour/log_level_quad.hpp"

#include <algorithm>

namespace sextant::contour {

Stages log_level_quad(const Grid& grid) {
    const std::vector<Digit> columns = digits(grid.columns), rows = digits(grid.rows);
    Stages stages;
    for (std::size_t i = 0; i < std::max(columns.size(), rows.size()); ++i) {
        if (i < columns.size())
            stages.push_back({columns[i], {}});
        if (i < rows.size())
            stages.push_back({{}, rows[i]});
    }
    return stages;
}

} // namespace sextant::contour
