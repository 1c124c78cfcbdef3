// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/scan/sklansky.hpp"

namespace sextant::scan {

Region sklansky(Line& line, Region value) {
    int round = 0;
    for (int length = 1; length < line.ranks(); length *= 2) {
        const int block = line.rank() / length, next = (block + 1) * length;
        line.round(round++);
        if (block % 2 == 1) {
            value = line.take(block * length - 1, value);
        } else if (line.rank() == next - 1) {
            for (int other = next; other < next + length; ++other)
                line.give(other, value);
        }
    }
    return value;
}

} // namespace sextant::scan
