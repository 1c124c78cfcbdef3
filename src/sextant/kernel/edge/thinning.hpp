// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/edge/canny.hpp"

#include <cstdint>
#include <vector>

namespace sextant::kernel {

/// How many pixels around a tile a round of thinning reads.
inline constexpr Elements thinning_margin = 4;

/// Thins edges to lines of one pixel, in rounds: takes off pixels whose neighbours hang together
/// without them, but no ends of lines; first those of even columns and rows, then of odd columns,
/// of odd rows, of both, so that no two that are taken off at once touch, and lines stay connected.
///
/// Input     codes of edges, not 0, of the tile and `thinning_margin` pixels around it, as far as
///           the image goes. Between rounds whoever holds those around it brings them up to date.
/// Output    the tile's as after the rounds, 0 where a pixel was taken off; those around it are
///           changed too.
/// Cost      O(pixels / (64 lanes)) the first round; later ones look at rows that have changed, and
///           at those beside them. A bit a pixel is kept.
/// Deterministic  the same however the image is cut, on every processor.
class Thinning {
  public:
    Thinning(std::uint8_t* edges, const Tile& held, const Tile& tile, ImageShape image);

    /// Returns how many of the tile's were taken off.
    Elements round();

  private:
    using Bits = std::uint64_t;

    Bits* row(Elements y);
    void read();
    void read(Elements y, Elements first, Elements end);
    void begin_pass(const Tile& part, Elements parity);
    bool is_news(Elements y, Elements parity);
    Elements take_off(Elements y);

    std::uint8_t* const edges_;
    const Tile held_, tile_;
    const ImageShape image_;
    const Elements words_, pitch_; // of a row, and from one to the next
    std::vector<Bits> bits_;       // of rows, of one before the first, and of one behind the last
    std::vector<Bits> mask_, removed_, fresh_;
    Elements pass_ = 0;               // how many there were
    std::vector<Elements> changed_;   // [row + 1]: the last pass that changed it
    std::vector<Elements> looked_at_; // [2 row + parity of columns]: the last pass that did
};

} // namespace sextant::kernel
