// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/scan/line.hpp"
#include "sextant/scan/task.hpp"
#include "sextant/schedule/program.hpp"
#include "sextant/schedule/prove.hpp"

#include <array>
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

} // namespace sextant::scan
