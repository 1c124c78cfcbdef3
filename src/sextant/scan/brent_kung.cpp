// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/scan/brent_kung.hpp"

namespace sextant::scan {

Region brent_kung(Line& line, Region value) {
    // Whether this rank ends a pair of runs of so many ranks, or the first of such a pair.
    const auto ends_pair = [&](int length) { return (line.rank() + 1) % (2 * length) == 0; };
    const auto ends_first = [&](int length) { return (line.rank() + 1) % (2 * length) == length; };
    int round = 0, length = 1;
    for (; length < line.ranks(); length *= 2) {
        line.round(round++);
        if (ends_first(length))
            line.give(line.rank() + length, value);
        else if (ends_pair(length))
            value = line.take(line.rank() - length, value);
    }
    for (length /= 4; length >= 1; length /= 2) {
        line.round(round++);
        if (ends_pair(length))
            line.give(line.rank() + length, value);
        else if (ends_first(length))
            value = line.take(line.rank() - length, value);
    }
    return value;
}

} // namespace sextant::scan
