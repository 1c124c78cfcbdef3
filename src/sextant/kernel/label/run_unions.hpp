// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/label/labels.hpp"

namespace sextant::kernel {

/// A row of pixels in bits (row_bits.hpp), and the numbers of its runs.
struct RunRow {
    std::uint64_t* inside = nullptr; ///< not the background
    std::uint64_t* starts = nullptr; ///< the first pixel of a run
    Label before = 0;                ///< runs in the rows above it: its own follow
};

/// Which pixels of a row equal those of the row above, in bits.
struct EqualsAbove {
    const std::uint64_t* straight; ///< bit i: i above it
    const std::uint64_t* left;     ///< bit i: i + 1 equals i above
    const std::uint64_t* right;    ///< bit i: i equals i + 1 above
};

/// Two rows whose runs are to be joined where they touch.
struct TouchingRows {
    RunRow row, above;
    Elements words;
    bool corners;             ///< whether pixels touch at corners
    const EqualsAbove* equal; ///< none where every run may be joined with every other
    Label* parents;           ///< [run]: an earlier run of its component, or itself
};

/// Makes each run of a row its own parent; returns the number of the last.
Label begin_runs(const RunRow& row, Elements words, Label* parents);

/// Joins each pair of runs that touch: the first run of either component becomes that of both.
/// Cost      pairs α(runs).
void join_runs(const TouchingRows& rows);

} // namespace sextant::kernel
