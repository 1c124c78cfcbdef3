// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/label/contour_ranking.hpp"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/kernel/label/rank_row.cpp"
#include "sextant/kernel/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernel::HWY_NAMESPACE {

using Integers = hn::CappedTag<std::int32_t, 16>;

HWY_INLINE void fill_word(std::int32_t* to) {
    const Integers d;
    for (std::size_t i = 0; i < 64; i += hn::MaxLanes(d))
        hn::Store(hn::Set(d, -1), d, to + i);
}

HWY_INLINE void copy_word(const std::int32_t* from, std::int32_t* to, Elements count, bool stream) {
    const Integers d;
    if (count < 64) {
        std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(*to));
        return;
    }
    for (std::size_t i = 0; i < 64; i += hn::MaxLanes(d))
        store(hn::Load(d, from + i), d, to + i, stream);
}

/// Writes a word without points directly from registers.
HWY_INLINE void write_none(std::int32_t* to, bool stream) {
    const Integers d;
    for (std::size_t i = 0; i < 64; i += hn::MaxLanes(d))
        store(hn::Set(d, -1), d, to + i, stream);
}

Elements write_ranks(const RankRow& row) {
    HWY_ALIGN std::int32_t contours[64], ranks[64];
    const Count* count = row.counts;
    for (Elements first = 0; first < row.width; first += 64) {
        const std::uint64_t points = row.points[first / 64];
        if (points == 0 && row.width - first >= 64) {
            write_none(row.contours_to + first, row.stream);
            write_none(row.ranks_to + first, row.stream);
            continue;
        }
        if (~points != 0) {
            fill_word(contours);
            fill_word(ranks);
        }
        for (std::uint64_t left = points; left != 0; left &= left - 1, ++count) {
            const std::size_t x = hwy::Num0BitsBelowLS1Bit_Nonzero64(left);
            const SegmentRanks& segment = row.ranks[count->segment];
            const std::int32_t links = segment.links - count->count;
            contours[x] = segment.contour;
            ranks[x] = links < segment.period ? links : links - segment.period;
        }
        const Elements there = row.width - first, width = there < 64 ? there : 64;
        copy_word(contours, row.contours_to + first, width, row.stream);
        copy_word(ranks, row.ranks_to + first, width, row.stream);
    }
    return count - row.counts;
}

} // namespace sextant::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernel {

HWY_EXPORT(write_ranks);

Elements write_ranks(const RankRow& row) {
    return HWY_DYNAMIC_DISPATCH(write_ranks)(row);
}

} // namespace sextant::kernel
#endif
