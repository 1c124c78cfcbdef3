// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/label/label_vectors.hpp"

#include <cstring>
#include <type_traits>
#include <variant>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/kernel/label/label_vectors.cpp"
#include "sextant/kernel/lanes-inl.hpp"

#ifndef SEXTANT_KERNEL_LABEL_ROW_COUNTS
#define SEXTANT_KERNEL_LABEL_ROW_COUNTS
namespace sextant::kernel {

/// [bits][i]: the number of bits set among bits 0 … i.
struct CountsOfBits {
    std::uint8_t counts[256][8] = {};
    constexpr CountsOfBits() {
        for (unsigned bits = 0; bits < 256; ++bits) {
            for (unsigned i = 0, count = 0; i < 8; ++i)
                counts[bits][i] = static_cast<std::uint8_t>(count += bits >> i & 1);
        }
    }
};
static constexpr CountsOfBits counts_of_bits;

} // namespace sextant::kernel
#endif

HWY_BEFORE_NAMESPACE();
namespace sextant::kernel::HWY_NAMESPACE {

/// Makes one word of bits at a time: whole words from vectors, a partial last word from single
/// samples.
template <class Sample, class Vectors, class One>
HWY_INLINE void make_bits(Elements count, std::uint64_t* bits, Vectors vectors, One one) {
    using Samples = hn::CappedTag<Sample, 64>;
    constexpr Elements lanes = hn::MaxLanes(Samples());
    for (Elements first = 0; first < count; first += 64) {
        std::uint64_t word = 0;
        if (first + 64 <= count) {
            for (Elements i = 0; i < 64; i += lanes) {
                std::uint64_t some = 0;
                hn::StoreMaskBits(Samples(), vectors(Samples(), first + i),
                                  reinterpret_cast<std::uint8_t*>(&some));
                word |= some << i;
            }
        } else {
            for (Elements i = first; i < count; ++i)
                word |= std::uint64_t{one(i)} << (i - first);
        }
        bits[first / 64] = word;
    }
}

template <class Sample>
HWY_INLINE void not_zero(const Sample* row, Elements count, std::uint64_t* bits) {
    make_bits<Sample>(
        count, bits,
        [row](auto d, Elements i) HWY_ATTR {
            const auto samples = hn::LoadU(d, row + i), zero = hn::Zero(d);
            if constexpr (hwy::IsFloat<Sample>())
                return hn::Or(hn::Lt(samples, zero), hn::Gt(samples, zero));
            else
                return hn::Not(hn::Eq(samples, zero));
        },
        [row](Elements i) { return row[i] != Sample{0} && row[i] == row[i]; });
}

template <class Sample>
HWY_INLINE Elements nan_among(const Sample* row, Elements count) {
    using Samples = hn::ScalableTag<Sample>;
    const Samples d;
    constexpr Elements lanes = hn::MaxLanes(Samples());
    Elements found = 0, i = 0;
    for (; i + lanes <= count; i += lanes)
        found += static_cast<Elements>(hn::CountTrue(d, hn::IsNaN(hn::LoadU(d, row + i))));
    for (; i < count; ++i)
        found += row[i] != row[i] ? 1 : 0;
    return found;
}

template <class Sample>
HWY_INLINE void equal(const Sample* a, const Sample* b, Elements count, std::uint64_t* bits) {
    make_bits<Sample>(
        count, bits,
        [a, b](auto d, Elements i)
            HWY_ATTR { return hn::Eq(hn::LoadU(d, a + i), hn::LoadU(d, b + i)); },
        [a, b](Elements i) { return a[i] == b[i]; });
}

Elements nan_in_row(const SampleRow& row, Elements count) {
    return std::visit(
        [count](const auto* samples) HWY_ATTR -> Elements {
            if constexpr (hwy::IsFloat<std::remove_cvref_t<decltype(*samples)>>())
                return nan_among(samples, count);
            return 0;
        },
        row);
}

void not_zero_in_row(const SampleRow& row, Elements count, std::uint64_t* bits) {
    std::visit([&](const auto* samples) HWY_ATTR { not_zero(samples, count, bits); }, row);
}

void equal_in_rows(const SampleRow& a, const SampleRow& b, Elements count, std::uint64_t* bits) {
    std::visit([&](const auto* samples)
                   HWY_ATTR { equal(samples, std::get<decltype(samples)>(b), count, bits); },
               a);
}

// Joining runs uses no vectors, but is compiled per target, because the instructions for counting
// bits differ.

using Bits = std::uint64_t;

HWY_INLINE Label count_of(Bits bits) {
    return static_cast<Label>(hwy::PopCount(bits));
}

/// The lowest set bit and all bits below it.
HWY_INLINE Bits through_first(Bits bits) {
    return bits ^ (bits - 1);
}

/// Finds the root of a run, with path halving.
HWY_INLINE Label root(Label* parents, Label run) {
    while (parents[run] != run)
        run = parents[run] = parents[parents[run]];
    return run;
}

/// Joins two runs that touch. If the run is its own parent, the run above becomes its parent,
/// because that run's entry is still in the cache; otherwise the roots are joined.
HWY_INLINE void join(Label* parents, Label run, Label above) {
    if (parents[run] == run) {
        parents[run] = above;
        return;
    }
    const Label a = root(parents, run), b = root(parents, above);
    const Label first = a < b ? a : b, last = a < b ? b : a;
    parents[last] = first;
}

/// One word of a row's bits, and the number of runs that began before the word.
struct At {
    Bits inside = 0, starts = 0;
    Bits carry = 0; ///< set if the last pixel of the previous word is inside
    Label before;   ///< the number of runs that began before the word

    HWY_INLINE void go_to(const RunRow& row, Elements word) {
        carry = inside >> 63;
        before += count_of(starts);
        inside = row.inside[word];
        starts = row.starts[word];
    }
    /// The runs, each extended by the pixel after it.
    HWY_INLINE Bits extended() const { return inside | before_inside(); }
    /// Bit i: pixel i − 1 is inside.
    HWY_INLINE Bits before_inside() const { return inside << 1 | carry; }
    /// The run at pixel i, or the last run before it. In `pixels`, bits 0 … i are set.
    HWY_INLINE Label run_at(Bits pixels) const { return before + count_of(starts & pixels); }
};

/// Runs that touch share pixels, after each run is extended by one pixel if corners count. The
/// first pixel that two runs share is the first pixel of one of them, which gives one bit per pair
/// of runs.
HWY_INLINE void join_any(const TouchingRows& rows, const At& row, const At& above) {
    Bits shared = rows.corners ? row.extended() & above.extended() : row.inside & above.inside;
    shared &= row.starts | above.starts;
    for (; shared != 0; shared &= shared - 1) {
        const Bits pixels = through_first(shared);
        join(rows.parents, row.run_at(pixels), above.run_at(pixels));
    }
}

/// A word of bits shifted up by one, with the last bit of the previous word shifted in.
HWY_INLINE Bits moved(const Bits* bits, Elements word) {
    return bits[word] << 1 | (word > 0 ? bits[word - 1] >> 63 : 0);
}

/// Joins runs of equal value. Runs that share a column are joined at the start of the one that
/// starts later. Runs that meet only at a corner are joined where one has ended and the other
/// starts. Two equal pixels may still not both be inside, because samples can change while they are
/// read.
HWY_INLINE void join_equal(const TouchingRows& rows, Elements word, const At& row,
                           const At& above) {
    Bits shared =
        rows.equal->straight[word] & row.inside & above.inside & (row.starts | above.starts);
    for (; shared != 0; shared &= shared - 1) {
        const Bits pixels = through_first(shared);
        join(rows.parents, row.run_at(pixels), above.run_at(pixels));
    }
    if (!rows.corners)
        return;
    const Bits row_goes_on = row.inside & ~row.starts;
    const Bits above_goes_on = above.inside & ~above.starts;
    Bits left = moved(rows.equal->left, word) & row.starts & above.before_inside() & ~above_goes_on;
    for (; left != 0; left &= left - 1) {
        const Bits pixels = through_first(left);
        join(rows.parents, row.run_at(pixels), above.run_at(pixels >> 1));
    }
    Bits right = moved(rows.equal->right, word) & above.starts & row.before_inside() & ~row_goes_on;
    for (; right != 0; right &= right - 1) {
        const Bits pixels = through_first(right);
        join(rows.parents, row.run_at(pixels >> 1), above.run_at(pixels));
    }
}

Label begin_runs(const RunRow& row, Elements words, Label* parents) {
    Label last = row.before;
    for (Elements word = 0; word < words; ++word)
        last += count_of(row.starts[word]);
    for (Label run = row.before + 1; run <= last; ++run)
        parents[run] = run;
    return last;
}

void join_runs(const TouchingRows& rows) {
    At row, above;
    row.before = rows.row.before;
    above.before = rows.above.before;
    for (Elements word = 0; word < rows.words; ++word) {
        row.go_to(rows.row, word);
        above.go_to(rows.above, word);
        if (rows.equal)
            join_equal(rows, word, row, above);
        else
            join_any(rows, row, above);
    }
}

using Labels = hn::ScalableTag<Label>;
constexpr Elements label_lanes = hn::MaxLanes(Labels());

#if HWY_TARGET != HWY_SCALAR

/// The labels of one vector of pixels. If n runs start in lanes 1 … i, the label of lane i comes n
/// places after that of lane 0, so one vector contains all labels that can occur.
HWY_INLINE hn::Vec<Labels> labels_of(std::uint64_t inside, std::uint64_t starts,
                                     const Label* labels) {
    const Labels d;
    constexpr std::size_t lanes = hn::MaxLanes(Labels());
    labels += starts & 1;
    starts &= ~std::uint64_t{1};
    alignas(16) std::uint8_t counts[16];
    for (std::size_t i = 0; i < lanes; i += 8)
        std::memcpy(counts + i, counts_of_bits.counts[starts >> i & 255], 8);
    const hn::Rebind<std::uint8_t, Labels> bytes;
    auto index = hn::PromoteTo(d, hn::Load(bytes, counts));
    if constexpr (lanes == 16) {
        const auto below = static_cast<Label>(counts[7]);
        index = hn::Add(index, hn::IfThenElse(hn::FirstN(d, 8), hn::Zero(d), hn::Set(d, below)));
    }
    const auto all = hn::TableLookupLanes(hn::LoadU(d, labels), hn::IndicesFromVec(d, index));
    const auto mask = hn::LoadMaskBits(d, reinterpret_cast<const std::uint8_t*>(&inside));
    return hn::IfThenElseZero(mask, all);
}

/// Writes the pixels of one word, in whole vectors up to `count`; returns the number written.
HWY_INLINE Elements write_word(std::uint64_t inside, std::uint64_t starts, const Label* labels,
                               Label* to, Elements count, bool stream) {
    const Labels d;
    constexpr std::uint64_t lane_bits = (std::uint64_t{1} << label_lanes) - 1;
    const bool one_run = starts == 0 && (inside == 0 || ~inside == 0);
    const auto one = inside == 0 ? hn::Zero(d) : hn::Set(d, labels[0]);
    Elements i = 0;
    for (; i + label_lanes <= count; i += label_lanes) {
        if (one_run) {
            store(one, d, to + i, stream);
            continue;
        }
        const std::uint64_t begun = starts >> i & lane_bits;
        store(labels_of(inside >> i & lane_bits, begun, labels), d, to + i, stream);
        labels += counts_of_bits.counts[begun & 255][7];
        if constexpr (label_lanes == 16)
            labels += counts_of_bits.counts[begun >> 8][7];
    }
    return i;
}

#endif

void write_labels(const LabelRow& row) {
    const Label* labels = row.labels;
    for (Elements first = 0; first < row.width; first += 64) {
        const std::uint64_t inside = row.inside[first / 64], starts = row.starts[first / 64];
        const Elements left = row.width - first, count = left < 64 ? left : 64;
        Elements i = 0;
#if HWY_TARGET != HWY_SCALAR
        i = write_word(inside, starts, labels, row.to + first, count, row.stream);
#endif
        for (; i < count; ++i) {
            const auto begun = hwy::PopCount(starts & (~std::uint64_t{0} >> (63 - i)));
            row.to[first + i] = inside >> i & 1 ? labels[begun] : 0;
        }
        labels += hwy::PopCount(starts);
    }
}

} // namespace sextant::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernel {

HWY_EXPORT(nan_in_row);
HWY_EXPORT(not_zero_in_row);
HWY_EXPORT(equal_in_rows);
HWY_EXPORT(begin_runs);
HWY_EXPORT(join_runs);
HWY_EXPORT(write_labels);

Elements count_nan(const SampleRow& row, Elements count) {
    return HWY_DYNAMIC_DISPATCH(nan_in_row)(row, count);
}

void bits_not_zero(const SampleRow& row, Elements count, std::uint64_t* bits) {
    HWY_DYNAMIC_DISPATCH(not_zero_in_row)(row, count, bits);
}

void bits_equal(const SampleRow& a, const SampleRow& b, Elements count, std::uint64_t* bits) {
    HWY_DYNAMIC_DISPATCH(equal_in_rows)(a, b, count, bits);
}

Label begin_runs(const RunRow& row, Elements words, Label* parents) {
    return HWY_DYNAMIC_DISPATCH(begin_runs)(row, words, parents);
}

void join_runs(const TouchingRows& rows) {
    HWY_DYNAMIC_DISPATCH(join_runs)(rows);
}

void write_labels(const LabelRow& row) {
    HWY_DYNAMIC_DISPATCH(write_labels)(row);
}

} // namespace sextant::kernel
#endif
