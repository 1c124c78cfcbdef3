// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace sextant::lab {

/// A table of cases, with the winner of each case.
struct WinnerMap {
    struct Cell {
        std::string winner; ///< determines the colour; "" if unknown
        std::string detail; ///< a line of text below the winner
    };
    std::string title, subtitle;
    std::vector<std::string> columns, rows;
    std::vector<std::vector<Cell>> cells; ///< [row][column]
};

/// Returns the map as an SVG, with one cell per case, coloured by winner. Throws std::logic_error
/// unless the numbers of cells match those of row and column names.
std::string winner_map(const WinnerMap& map);

} // namespace sextant::lab
