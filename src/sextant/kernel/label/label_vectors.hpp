// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <cstdint>
#include <variant>

// Rows of samples and of labels, processed in vectors. Rows of bits have 64 bits per word, the
// first sample in the lowest bit.
namespace sextant::kernel {

constexpr Elements words_for(Elements bits) {
    return (bits + 63) / 64;
}

/// A row of samples, as stored. Floating-point numbers are compared by value, all others by their
/// bits.
using SampleRow = std::variant<const float*, const std::uint8_t*, const std::uint16_t*,
                               const std::uint32_t*, const std::uint64_t*, const double*>;

/// Sets bit i if row[i] is neither 0 nor NaN. Bits after the last are 0.
void bits_not_zero(const SampleRow& row, Elements count, std::uint64_t* bits);

/// Returns the number of samples that are NaN.
Elements count_nan(const SampleRow& row, Elements count);

/// Sets bit i if a[i] equals b[i], of the same type. Bits after the last are 0.
void bits_equal(const SampleRow& a, const SampleRow& b, Elements count, std::uint64_t* bits);

/// A component's number, from 1; 0 is the background.
using Label = std::int32_t;

/// A row of pixels in bits, and the numbers of its runs.
struct RunRow {
    std::uint64_t* inside = nullptr; ///< bits of pixels that are not background
    std::uint64_t* starts = nullptr; ///< bits of the first pixels of runs
    Label before = 0;                ///< number of runs in the rows above
};

/// Bit masks of the pixels of a row that equal pixels of the row above.
struct EqualsAbove {
    const std::uint64_t* straight; ///< bit i: pixel i equals pixel i above
    const std::uint64_t* left;     ///< bit i: pixel i + 1 equals pixel i above
    const std::uint64_t* right;    ///< bit i: pixel i equals pixel i + 1 above
};

/// Two adjacent rows whose touching runs are to be joined.
struct TouchingRows {
    RunRow row, above;
    Elements words;
    bool corners;             ///< true if pixels touch at corners too
    const EqualsAbove* equal; ///< null if runs are connected regardless of value
    Label* parents;           ///< [run]: an earlier run of the same component, or the run itself
};

/// Makes each run of a row its own parent; returns the number of the last run.
Label begin_runs(const RunRow& row, Elements words, Label* parents);

/// Joins the components of each pair of runs that touch. The earlier of the two roots becomes the
/// root of both.
/// Cost      O(pairs α(runs)), where α is the inverse Ackermann function.
void join_runs(const TouchingRows& rows);

/// A row of pixels, to which the labels of their runs are written.
struct LabelRow {
    const std::uint64_t* inside; ///< bits of pixels that are not background
    const std::uint64_t* starts; ///< bits of the first pixels of runs
    const Label* labels; ///< labels of the row's runs, from [1] on; readable 16 past the last
    Label* to;
    Elements width;
    bool stream; ///< bypass the caches; `to` is aligned to `stream_alignment`
};

void write_labels(const LabelRow& row);

} // namespace sextant::kernel
