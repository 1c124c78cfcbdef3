// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/scan/serial.hpp"

namespace sextant::scan {

Prefixes serial(Line& line, const Region& value, Form at_last) {
    Prefixes own{{}, value};
    if (line.rank() > 0) {
        line.round(line.rank() - 1);
        own.before = line.receive(line.rank() - 1, value);
        const bool needed = line.rank() + 1 < line.ranks() || at_last != Form::exclusive;
        own.through = needed ? line.combine(own.before, value) : Region{};
    }
    line.round(line.rank());
    line.give(line.rank() + 1, own.through);
    return own;
}

} // namespace sextant::scan
