// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sextant::registration {

/// Returns the median of at least one finite value; for an even number of values, the mean of the
/// middle two. Reorders the values.
float middle_of(std::span<float> values);

/// Finds the medians of several pixels at once, which have equally many finite values. Up to 64
/// values are sorted by a network of exchanges, the same for all pixels.
/// Source    Knuth, The Art of Computer Programming 3, 5.2.2, Algorithm M (Batcher's merge
///           exchange)
class PixelMedians {
  public:
    static constexpr std::size_t pixels = 16; ///< number of pixels at a time

    /// Finds the medians of `pixels` adjacent pixels of `count` values each, at least one. Value i
    /// of pixel k is values[i * stride + k].
    /// Output    the same bits as middle_of().
    void find(const float* values, std::size_t count, std::size_t stride, float* medians);

  private:
    struct Exchange {
        std::size_t low, high;
    };

    using Network = std::vector<Exchange>;

    static Network network_of(std::size_t count);

    std::vector<Network> networks_; ///< by number of values; empty until they are used
    std::vector<float> held_;       ///< [value][pixel], or [pixel][value] without a network
};

} // namespace sextant::registration
