// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <cstdint>

// Comparisons of rows of samples, in vectors, with results as bits: 64 per word, the first sample
// in the lowest bit. For the sample types of ValueView.
namespace sextant::kernel {

constexpr Elements words_for(Elements bits) {
    return (bits + 63) / 64;
}

/// Sets bit i if row[i] is not 0. Bits after the last are 0.
template <class Sample>
void bits_not_zero(const Sample* row, Elements count, std::uint64_t* bits);

/// Sets bit i if a[i] equals b[i]. Bits after the last are 0.
template <class Sample>
void bits_equal(const Sample* a, const Sample* b, Elements count, std::uint64_t* bits);

} // namespace sextant::kernel
