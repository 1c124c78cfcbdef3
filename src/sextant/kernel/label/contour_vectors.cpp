// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/label/contour_ranking.hpp"
#include "sextant/kernel/label/directions.hpp"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/kernel/label/contour_vectors.cpp"
#include "sextant/kernel/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernel::HWY_NAMESPACE {

using Codes = hn::CappedTag<Direction, 64>;
using CodeVector = hn::Vec<Codes>;
constexpr Elements code_lanes = hn::MaxLanes(Codes());

/// The lanes before the end of a row.
HWY_INLINE hn::Mask<Codes> within_row(Elements x, Elements width) {
    const Elements left = width - x; // FirstN on 8-bit lanes supports at most 127
    return hn::FirstN(Codes(), static_cast<std::size_t>(left < code_lanes ? left : code_lanes));
}

/// The row `y` rows below the middle one.
HWY_INLINE const Direction* row_at(const ThreeRows& rows, int y) {
    return y < 0 ? rows.above : y > 0 ? rows.below : rows.here;
}

/// Like find_predecessors(), but for a single point `x` outside the row.
HWY_INLINE bool find_predecessor(const ThreeRows& directions, Elements x, Direction* to) {
    to[x] = no_edge;
    for (int code = 7; code >= 0; --code) {
        const Step step = steps[code];
        if (row_at(directions, -step.y)[x - step.x] == code)
            to[x] = static_cast<Direction>(code);
    }
    return to[x] != no_edge && directions.here[x] == no_edge;
}

LinkCounts find_predecessors(const ThreeRows& directions, Elements width, Direction* to) {
    const Codes d;
    const auto none = hn::Set(d, no_edge);
    LinkCounts counts;
    for (Elements x = 0; x < width; x += code_lanes) {
        auto found = none;
        auto several = hn::FirstN(d, 0);
        for (int code = 7; code >= 0; --code) {
            const Step step = steps[code];
            const auto this_code = hn::Set(d, static_cast<Direction>(code));
            const auto there =
                hn::Eq(hn::LoadU(d, row_at(directions, -step.y) + x - step.x), this_code);
            several = hn::Or(several, hn::And(there, hn::Ne(found, none)));
            found = hn::IfThenElse(there, this_code, found);
        }
        hn::StoreU(found, d, to + x);
        const auto here = hn::LoadU(d, directions.here + x);
        const auto lost = hn::And(hn::Ne(found, none), hn::Eq(here, none));
        const auto no_code =
            hn::Or(hn::Lt(here, hn::Set(d, edge_end)), hn::Gt(here, hn::Set(d, Direction{7})));
        const auto within = within_row(x, width);
        counts.junctions += static_cast<Elements>(hn::CountTrue(d, hn::And(several, within)));
        if (!hn::AllFalse(d, hn::And(within, hn::Or(lost, no_code))))
            counts.faulty = true;
    }
    for (const Elements beside : {Elements{-1}, width}) {
        if (find_predecessor(directions, beside, to))
            counts.faulty = true;
    }
    return counts;
}

Elements find_successors(const Direction* directions, const ThreeRows& predecessors, Elements width,
                         Direction* to, std::uint64_t* points) {
    const Codes d;
    const auto none = hn::Set(d, no_edge), end = hn::Set(d, edge_end);
    // A link is kept if its code is the predecessor code of the point that it leads to.
    Elements cut = 0;
    for (Elements x = 0; x < width; x += code_lanes) {
        const auto here = hn::LoadU(d, directions + x);
        auto held = hn::IfThenElse(hn::Eq(here, none), none, end);
        for (int code = 0; code < 8; ++code) {
            const Step step = steps[code];
            const auto this_code = hn::Set(d, static_cast<Direction>(code));
            const auto back = hn::LoadU(d, row_at(predecessors, step.y) + x + step.x);
            held = hn::IfThenElse(hn::Eq(back, this_code), this_code, held);
        }
        hn::StoreU(held, d, to + x);
        const auto within = within_row(x, width);
        const auto ends = hn::And(hn::Eq(held, end), hn::Ne(here, end));
        cut += static_cast<Elements>(hn::CountTrue(d, hn::And(ends, within)));
        std::uint64_t some = 0;
        hn::StoreMaskBits(d, hn::And(hn::Ne(here, none), within),
                          reinterpret_cast<std::uint8_t*>(&some));
        std::uint64_t& word = points[x / 64];
        word = x % 64 == 0 ? some : word | some << (x % 64);
    }
    return cut;
}

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

/// Writes the 64 pixels of a word without points, directly from registers.
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

HWY_EXPORT(find_predecessors);
HWY_EXPORT(find_successors);
HWY_EXPORT(write_ranks);

LinkCounts find_predecessors(const ThreeRows& directions, Elements width, Direction* predecessors) {
    return HWY_DYNAMIC_DISPATCH(find_predecessors)(directions, width, predecessors);
}

Elements find_successors(const Direction* directions, const ThreeRows& predecessors, Elements width,
                         Direction* successors, std::uint64_t* points) {
    return HWY_DYNAMIC_DISPATCH(find_successors)(directions, predecessors, width, successors,
                                                 points);
}

Elements write_ranks(const RankRow& row) {
    return HWY_DYNAMIC_DISPATCH(write_ranks)(row);
}

} // namespace sextant::kernel
#endif
