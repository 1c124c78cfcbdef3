// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::reproduce {

/// One case: what the paper printed, if it did, and what comes out here, by column.
struct Row {
    std::string label;
    std::optional<double> theirs;
    std::vector<double> ours;
};

/// Something the paper says, and whether it comes out so.
struct Claim {
    std::string text;
    bool holds = false;
    std::string found;
};

/// What became of a table or figure.
struct Result {
    std::string unit;
    std::vector<std::string> columns; ///< of `Row::ours`; the last one is judged
    std::vector<Row> rows;
    std::vector<Claim> claims;
};

/// How much of an experiment: what takes seconds, or all of it.
enum class Extent { quick, whole };

/// One table or figure of a paper: one function in the paper's file, and one row of its list.
struct Experiment {
    std::string_view paper; ///< as a user names it: "shift-based"
    std::string_view item;  ///< "Figure 8"
    std::string_view title;
    std::string_view setting; ///< what was assumed, and what was fitted
    std::string_view reasons; ///< why ours differs, where it does
    Result (*run)(Extent extent);
    bool needs_simgrid = false; ///< for a platform in its words
};

/// Every experiment, by paper.
std::vector<Experiment> catalogue();

/// Ours by the column that is judged, over theirs. Empty where the paper has no number.
std::optional<double> ratio(const Row& row);

/// "agrees" up to a factor of 1.25 either way, else "differs"; "" where the paper has no number.
std::string_view verdict(const Row& row);

} // namespace sextant::reproduce
