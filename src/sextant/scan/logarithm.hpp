// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>

namespace sextant::scan {

/// ⌈log2 n⌉ for n >= 1: the rounds in which n lines can meet, two at a time.
constexpr int ceil_log2(int n) {
    return std::bit_width(static_cast<unsigned>(n) - 1);
}

} // namespace sextant::scan
