// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace sextant::lab {

/// A grid of cases with the winner of each.
struct WinnerMap {
    struct Cell {
        std::string winner; ///< determines the colour; "" if unknown
        std::string detail; ///< a line under it
    };
    std::string title, subtitle;
    std::vector<std::string> columns, rows;
    std::vector<std::vector<Cell>> cells; ///< by row, then column
};

/// An SVG with one field per case, coloured by winner. Throws std::logic_error unless there are as
/// many rows and columns of cells as of names.
std::string winner_map(const WinnerMap& map);

} // namespace sextant::lab
