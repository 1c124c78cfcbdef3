// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/scan/line.hpp"

namespace sextant::scan {

void Line::give(int to, const Region& value) {
    if (exists(to))
        builder_.send(to, value);
}

Region Line::receive(int from, const Region& like) {
    if (!exists(from))
        return {};
    const Region received = builder_.scratch(like.elements());
    builder_.receive(from, received);
    return received;
}

Region Line::combine(const Region& before, const Region& after) {
    const Region sum = builder_.scratch(after.elements());
    builder_.fold(sum, {before, after});
    return sum;
}

Region Line::take(int from, const Region& value) {
    if (!exists(from))
        return value;
    const Region slot = receive(from, value); // read only here, so the sum may lie there
    builder_.fold(slot, {slot, value});
    return slot;
}

} // namespace sextant::scan
