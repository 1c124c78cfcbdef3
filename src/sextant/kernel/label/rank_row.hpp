// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/label/segments.hpp"

#include <cstdint>

namespace sextant::kernel {

/// What the counts of a segment mean: rank = links − count, less `period` where that is too much.
struct SegmentRanks {
    std::int32_t contour = 0, links = 0, period = 0;
};

/// A row of pixels that take the numbers and ranks of its edge points.
struct RankRow {
    const std::uint64_t* points; ///< bits
    const Count* counts;         ///< of the points, in order
    const SegmentRanks* ranks;   ///< [segment]
    std::int32_t* contours_to;
    std::int32_t* ranks_to;
    Elements width;
    bool stream; ///< write past the caches: both are aligned to `stream_alignment`
};

/// Returns how many points the row has.
Elements write_ranks(const RankRow& row);

} // namespace sextant::kernel
