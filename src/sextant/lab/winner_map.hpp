// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace sextant::report {

/// Who wins where: cases in a grid, and the winner of each.
struct WinnerMap {
    struct Cell {
        std::string winner; ///< what is coloured; "" where nothing is known
        std::string detail; ///< a line under it
    };
    std::string title, subtitle;
    std::vector<std::string> columns, rows;
    std::vector<std::vector<Cell>> cells; ///< by row, then column
};

/// As SVG: a field a case, coloured by winner, so that regions show.
/// Requires  as many rows and columns of cells as of names (std::logic_error).
std::string winner_map(const WinnerMap& map);

} // namespace sextant::report
