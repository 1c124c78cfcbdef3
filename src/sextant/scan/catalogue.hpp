// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/scan/circuits.hpp"
#include "sextant/schedule/program.hpp"
#include "sextant/schedule/prove.hpp"

#include <array>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::scan {

/// A scan of one value per rank, as listed in the catalogue. Each algorithm in the catalogue is
/// available as an inclusive and as an exclusive scan and in scans of whole series, and is proved
/// and tested on threads and over MPI.
struct Algorithm {
    std::string_view name;
    std::string_view summary;
    std::string_view source;
    /// The form that the algorithm's circuit computes; the other form is derived (scan_in_form).
    Form native;
    /// The tunings, the default first. All work for any number of ranks.
    std::vector<Tuning> (*tunings)();
    /// The number of rounds in the native form; round labels are less than this number.
    int (*rounds)(int ranks, const Tuning& tuning);
    /// Writes one rank's line of the circuit. Returns at least the native form. `at_last` is the
    /// form needed on the last rank; it may save or cost one application there. Throws InvalidTask.
    Prefixes (*prefixes)(Line& line, const Region& value, const Tuning& tuning, Form at_last);
};

/// All algorithms, in the order of `sextant list`.
std::span<const Algorithm> catalogue();

/// Finds an algorithm by name. Throws InvalidTask, which suggests similar names, if the name is
/// unknown.
const Algorithm& find(std::string_view name);

/// Both forms of a scan, the native one first.
std::array<Form, 2> forms_of(const Algorithm& algorithm);

/// A short text: "ladner-fischer, k = 1".
std::string to_text(const Algorithm& algorithm, const Tuning& tuning);

/// The program of one rank. Its input buffer holds `task.elements` values. The result has the same
/// number of values; on rank 0 of an exclusive scan it is empty. Throws InvalidTask.
Program program(const Algorithm& algorithm, const Task& task, const Tuning& tuning, int rank);

/// The claim to prove for a task's schedule: every rank gets the combination of the values before
/// its own (exclusive) or up to its own (inclusive), each value once and in rank order.
Claim claim(const Task& task);

/// A scan within a larger program: an algorithm with its tuning, on ranks 0 … ranks − 1.
struct Stage {
    const Algorithm& algorithm;
    Tuning tuning;
    int ranks = 1;
    int first_round = 0; ///< label of the stage's first round

    /// The maximum number of rounds in any form.
    int rounds() const { return algorithm.rounds(ranks, tuning) + 1; }
};

/// The form of the result needed on each rank.
using Wanted = std::function<Form(int rank)>;

/// True if a rank's value is part of any rank's result in the requested forms. This can be false
/// only for the last rank.
bool matters(const Stage& stage, int rank, const Wanted& wanted);

/// Writes one rank's steps of a scan in the requested forms. The form that is not native comes from
/// a neighbour and needs no extra application of the operator: in an inclusive scan, each rank gets
/// its exclusive result from the left neighbour; in an exclusive scan, its inclusive result from
/// the right neighbour. The last rank's value is left out if no result needs it.
///
/// Input     this rank's value, or any slot of the same size if no result needs the value.
/// Output    the form for this rank. If that is `both`, an exclusive algorithm gives the last rank
///           only the exclusive form, because the inclusive form would take another application.
Prefixes scan_in_form(ProgramBuilder& builder, const Stage& stage, int rank, const Region& value,
                      const Wanted& wanted);

} // namespace sextant::scan
