// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/execute.hpp"
#include "sextant/core/units.hpp"
#include "sextant/scan/way.hpp"

#include <string>
#include <vector>

namespace sextant::prefix {

/// How a series is to be scanned. Every rank gives the same, but for what is expected of its own
/// values.
struct ScanOptions {
    std::string strategy = "scan-then-propagate"; ///< a name of scan::strategies()
    std::string algorithm = "kogge-stone";        ///< of the global scan: of scan::catalogue()
    scan::Tuning tuning = {};                     ///< of that algorithm
    bool gives_last = true;                       ///< see scan::GlobalScan
    Association association = Association::in_order;
    bool trace = false; ///< events of the schedule, and a bar for each application
    /// Of each rank. More than one need "reduce-then-scan", and an operator that several may apply
    /// at once.
    int threads = 1;
    scan::Boundaries boundaries = scan::Boundaries::moving; ///< between threads: see scan::Stealing
    /// An application that takes longer ends the process: its elements are told first, then it
    /// exits with code 1, since nothing else ends an operator. 0: none is too long.
    Seconds time_limit = 0;
    /// Whether an error of the operator says what it was combining. Each value then travels with a
    /// label of 16 bytes, as with a trace or a time limit.
    bool names_elements = false;
    /// Where the operator is declared commutative, so many pairs of each rank's values are combined
    /// both ways before a run; values that differ then end it.
    int commutative_samples = 1;
    scan::Shares shares = scan::Shares::by_number; ///< of threads, and of ranks
    /// Where shares go by time: how long combining each of this rank's values with what lies before
    /// it is expected to take, in any unit that is the same on all ranks. Results do not depend on
    /// it, for operators that are associative to the bit.
    std::vector<Seconds> expected = {};
};

/// The same, with its names looked up. Throws InvalidTask.
scan::Way way_of(const ScanOptions& options);

} // namespace sextant::prefix
