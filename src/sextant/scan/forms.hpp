// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/scan/catalogue.hpp"
#include "sextant/scan/line.hpp"

#include <functional>

namespace sextant::scan {

/// A scan within a larger program: an algorithm with its tuning, on ranks 0 … ranks − 1.
struct Stage {
    const Algorithm& algorithm;
    Tuning tuning;
    int ranks = 1;
    int first_round = 0; ///< rounds are counted from here

    /// The rounds it takes at most, in any form.
    int rounds() const { return algorithm.rounds(ranks, tuning) + 1; }
};

/// The form in which each rank wants the result.
using Wanted = std::function<Form(int rank)>;

/// Whether a rank's value is in anybody's result, in the forms that are wanted: the last one may
/// not be.
bool matters(const Stage& stage, int rank, const Wanted& wanted);

/// Writes one rank's steps of a scan in the forms that are wanted. What an algorithm does not give
/// of its own accord comes from a neighbour, without an application: of an inclusive scan the right
/// neighbour takes what lies before it, of an exclusive one the left neighbour what reaches up to
/// it. A last value that does not matter is left out.
///
/// Input     this rank's value; any slot as large where it does not matter.
/// Output    what this rank wants. Of `both`, the last rank gets only what lies before it from an
///           exclusive algorithm: the rest would be one more application.
Prefixes scan_in_form(ProgramBuilder& builder, const Stage& stage, int rank, const Region& value,
                      const Wanted& wanted);

} // namespace sextant::scan
