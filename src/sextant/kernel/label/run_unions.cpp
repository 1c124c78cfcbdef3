// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/label/labels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/kernel/label/run_unions.cpp"
#include "sextant/kernel/lanes-inl.hpp"

// No vectors here, but processors have different instructions for counting bits.
HWY_BEFORE_NAMESPACE();
namespace sextant::kernel::HWY_NAMESPACE {

using Bits = std::uint64_t;

HWY_INLINE Label count_of(Bits bits) {
    return static_cast<Label>(hwy::PopCount(bits));
}

/// The lowest set bit and all bits below it.
HWY_INLINE Bits through_first(Bits bits) {
    return bits ^ (bits - 1);
}

/// The root of a run. Halves paths.
HWY_INLINE Label root(Label* parents, Label run) {
    while (parents[run] != run)
        run = parents[run] = parents[parents[run]];
    return run;
}

/// Joins two runs that touch. A run without a parent gets the one above, whose entry is still in
/// the cache; otherwise the roots are joined.
HWY_INLINE void join(Label* parents, Label run, Label above) {
    if (parents[run] == run) {
        parents[run] = above;
        return;
    }
    const Label a = root(parents, run), b = root(parents, above);
    const Label first = a < b ? a : b, last = a < b ? b : a;
    parents[last] = first;
}

/// A row's bits at one word, and the runs before it.
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
    HWY_INLINE Bits extended() const { return inside | inside << 1 | carry; }
    /// The run at the last of the pixels 0 … i, given in bits, or the last run before it.
    HWY_INLINE Label run_at(Bits pixels) const { return before + count_of(starts & pixels); }
};

/// Runs, extended by one pixel if corners count, share pixels if they touch. The first shared pixel
/// is the first of one of them, which gives one bit per pair.
HWY_INLINE void join_any(const TouchingRows& rows, const At& row, const At& above) {
    Bits shared = rows.corners ? row.extended() & above.extended() : row.inside & above.inside;
    shared &= row.starts | above.starts;
    for (; shared != 0; shared &= shared - 1) {
        const Bits pixels = through_first(shared);
        join(rows.parents, row.run_at(pixels), above.run_at(pixels));
    }
}

/// A word of bits shifted up by one, with the last bit of the previous word.
HWY_INLINE Bits moved(const Bits* bits, Elements word) {
    return bits[word] << 1 | (word > 0 ? bits[word - 1] >> 63 : 0);
}

/// Joins runs of equal value. Runs above one another are joined at the start of the later one. Runs
/// that meet only at a corner are joined where one has ended and the other starts.
HWY_INLINE void join_equal(const TouchingRows& rows, Elements word, const At& row,
                           const At& above) {
    Bits shared = rows.equal->straight[word] & row.inside & (row.starts | above.starts);
    for (; shared != 0; shared &= shared - 1) {
        const Bits pixels = through_first(shared);
        join(rows.parents, row.run_at(pixels), above.run_at(pixels));
    }
    if (!rows.corners)
        return;
    const Bits row_goes_on = row.inside & ~row.starts;
    const Bits above_goes_on = above.inside & ~above.starts;
    Bits left = moved(rows.equal->left, word) & row.starts & ~above_goes_on;
    for (; left != 0; left &= left - 1) {
        const Bits pixels = through_first(left);
        join(rows.parents, row.run_at(pixels), above.run_at(pixels >> 1));
    }
    Bits right = moved(rows.equal->right, word) & above.starts & ~row_goes_on;
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

} // namespace sextant::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernel {

HWY_EXPORT(begin_runs);
HWY_EXPORT(join_runs);

Label begin_runs(const RunRow& row, Elements words, Label* parents) {
    return HWY_DYNAMIC_DISPATCH(begin_runs)(row, words, parents);
}

void join_runs(const TouchingRows& rows) {
    HWY_DYNAMIC_DISPATCH(join_runs)(rows);
}

} // namespace sextant::kernel
#endif
