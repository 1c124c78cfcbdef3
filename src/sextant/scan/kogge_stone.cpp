// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/scan/kogge_stone.hpp"

namespace sextant::scan {

Region kogge_stone(Line& line, Region value) {
    int round = 0;
    for (int distance = 1; distance < line.ranks(); distance *= 2) {
        line.round(round++);
        line.give(line.rank() + distance, value);
        value = line.take(line.rank() - distance, value);
    }
    return value;
}

} // namespace sextant::scan
