// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/contour/two_level_rows_columns.hpp"

#include <algorithm>

namespace sextant::contour {

Stages two_level_rows_columns(const Grid& grid) {
    std::vector<Digit> columns = digits(grid.columns), rows = digits(grid.rows);
    std::reverse(columns.begin(), columns.end());
    std::reverse(rows.begin(), rows.end());
    Stages stages;
    for (const Digit column : columns)
        stages.push_back({column, {}});
    for (const Digit row : rows)
        stages.push_back({{}, row});
    return stages;
}

} // namespace sextant::contour
