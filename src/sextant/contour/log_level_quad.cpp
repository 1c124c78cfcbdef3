// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/contour/log_level_quad.hpp"

#include <algorithm>

namespace sextant::contour {

Stages log_level_quad(const Grid& grid) {
    const std::vector<Digit> columns = digits(grid.columns), rows = digits(grid.rows);
    Stages stages(std::max(columns.size(), rows.size()));
    for (std::size_t i = 0; i < columns.size(); ++i)
        stages[i].column = columns[i];
    for (std::size_t i = 0; i < rows.size(); ++i)
        stages[i].row = rows[i];
    return stages;
}

} // namespace sextant::contour
