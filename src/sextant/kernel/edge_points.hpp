// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <cstdint>
#include <cstring>

namespace sextant::kernel {

/// Calls `body` with the place of each byte that is not 0. Edges are few: eight at a time are
/// passed over.
template <class Body>
void each_edge_point(const std::uint8_t* row, Elements count, Body&& body) {
    Elements x = 0;
    for (; x + 8 <= count; x += 8) {
        std::uint64_t eight = 0;
        std::memcpy(&eight, row + x, sizeof eight);
        for (Elements k = x; eight != 0 && k < x + 8; ++k) {
            if (row[k] != 0)
                body(k);
        }
    }
    for (; x < count; ++x) {
        if (row[x] != 0)
            body(x);
    }
}

} // namespace sextant::kernel
