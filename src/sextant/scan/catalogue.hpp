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

/// A scan of one value a rank: one file of code and one row here. In return it has both forms, the
/// proof ring, conformance tests on threads and over MPI, and serves in scans of whole series.
struct Algorithm {
    std::string_view name;
    std::string_view summary;
    std::string_view source;
    /// What its circuit gives of its own accord; the other form is derived (forms.hpp).
    Form native;
    /// The tunings, the usual one first. Any number of ranks is taken.
    std::vector<Tuning> (*tunings)();
    /// The labels of its rounds are below this, in its native form.
    int (*rounds)(int ranks, const Tuning& tuning);
    /// Writes one rank's line of the circuit; what it knows afterwards, in the native form at
    /// least. `at_last` is the form that the last rank wants, who may need no application, or one
    /// more. Throws InvalidTask.
    Prefixes (*prefixes)(Line& line, const Region& value, const Tuning& tuning, Form at_last);
};

/// Every algorithm, in the order of `sextant list`.
std::span<const Algorithm> catalogue();

/// By name. Throws InvalidTask with near names.
const Algorithm& find(std::string_view name);

/// Both forms of a scan, the one that needs no neighbour first.
std::array<Form, 2> forms_of(const Algorithm& algorithm);

/// "ladner-fischer, k = 1".
std::string to_text(const Algorithm& algorithm, const Tuning& tuning);

/// The program of one rank. Its input buffer holds `task.elements` values; its result is as many,
/// or none on rank 0 of an exclusive scan. Throws InvalidTask.
Program program(const Algorithm& algorithm, const Task& task, const Tuning& tuning, int rank);

/// What `prove` is to show of a task's schedule: every rank ends up with the values before its own,
/// or up to it, combined once each and in order.
Claim claim(const Task& task);

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
