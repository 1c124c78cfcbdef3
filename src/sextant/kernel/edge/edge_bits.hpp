// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/label/directions.hpp"

#include <cstdint>

// Rows of edges whose maxima are found, in vectors: codes of bytes (edge_code.hpp), or bits
// (row_bits.hpp).
namespace sextant::kernel {

/// Bit i: whether codes[i] is that of a strong edge. Bits behind the last are 0.
void bits_strong(const std::uint8_t* codes, Elements count, std::uint64_t* bits);

/// Codes whose bits are 0 become 0, the others weak edges of the same heading.
void keep_edges(const std::uint64_t* bits, Elements count, std::uint8_t* codes);

/// A row of edges in bits between two others; of each there are words of 0 before the first and
/// behind the last, `thin_slack` of them.
struct ThinRow {
    const std::uint64_t* above;
    std::uint64_t* here;
    const std::uint64_t* below;
    const std::uint64_t* mask; ///< which may be taken off: no two of them touch
    std::uint64_t* removed;    ///< where it is told which were
    Elements words;
};
inline constexpr Elements thin_slack = 8;

/// Takes off pixels whose neighbours hang together without them, in one piece, but no ends of
/// lines. Whether there were any.
bool thin_row(const ThinRow& row);

/// Three rows of codes, of 0 at [−1] and from [width] to `direct_slack` behind it.
struct DirectRow {
    const std::uint8_t *above, *here, *below;
    Direction* directions;
    Elements width;
};
inline constexpr Elements direct_slack = 65;

/// As find_directions().
void direct_edges(const DirectRow& row);

} // namespace sextant::kernel
