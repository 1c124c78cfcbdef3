// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

namespace sextant::kernel {

/// An exchange of a sorting network, which orders two of its values.
struct Exchange {
    std::size_t low, high;
};

/// The number of sequences that are sorted at a time.
inline constexpr std::size_t sorted_together = 16;

/// Applies a network to `sorted_together` sequences. Value i of sequence k is
/// values[i * sorted_together + k].
///
/// Input     values that are not NaN.
/// Output    the same on every processor, but for the signs of equal zeros.
void apply_network(std::span<const Exchange> network, float* values);

} // namespace sextant::kernel
