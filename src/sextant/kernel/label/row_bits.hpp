// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <cstdint>

// Rows of samples as bits, 64 to a word, the first sample in the lowest bit: what differs, in
// vectors. For the samples of ValueView.
namespace sextant::kernel {

constexpr Elements words_for(Elements bits) {
    return (bits + 63) / 64;
}

/// Bit i: whether row[i] is not 0. Bits behind the last are 0.
template <class Sample>
void bits_not_zero(const Sample* row, Elements count, std::uint64_t* bits);

/// Bit i: whether a[i] equals b[i]. Bits behind the last are 0.
template <class Sample>
void bits_equal(const Sample* a, const Sample* b, Elements count, std::uint64_t* bits);

} // namespace sextant::kernel
