// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/scan/han_carlson.hpp"

namespace sextant::scan {

Region han_carlson(Line& line, Region value) {
    const bool odd = line.rank() % 2 == 1;
    int round = 0;
    line.round(round++);
    if (odd)
        value = line.take(line.rank() - 1, value);
    else
        line.give(line.rank() + 1, value);
    for (int distance = 2; distance < line.ranks(); distance *= 2) {
        line.round(round++);
        if (!odd)
            continue;
        line.give(line.rank() + distance, value);
        value = line.take(line.rank() - distance, value);
    }
    line.round(round);
    if (odd)
        line.give(line.rank() + 1, value);
    else
        value = line.take(line.rank() - 1, value);
    return value;
}

} // namespace sextant::scan
