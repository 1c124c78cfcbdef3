// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/programs.hpp"
#include "sextant/schedule/trace.hpp"
#include "sextant/simulate/platform.hpp"

#include <string>
#include <vector>

namespace sextant::simulate {

/// A simulation task: one run of a schedule on a machine that need not exist.
struct Question {
    Programs schedule; ///< a rank's program is made at the start, and again for errors
    /// A platform file: SimGrid's XML, or the JSON described in docs/platform.md.
    std::string platform;
    /// Hosts by name, filled one after another with one rank per core. If empty: all hosts, in the
    /// order of the platform.
    std::vector<OrderedHost> order = {};
    Bytes element_size = 0;
    /// Bytes transferred per element, divided by its size: 1 except for compressed or sparse data.
    double density = 1;
    /// For sparse images: the active fraction of elements in each round, both transferred and
    /// combined; later rounds use the last entry. Empty: all elements are active.
    std::vector<double> active_by_round = {};
    Costs costs = {};
    Association association = Association::in_order;
    bool timeline = false;
};

struct Simulation {
    Seconds seconds = 0;           ///< until the last rank ends its last step
    std::vector<Seconds> finished; ///< end time of each rank
    Trace timeline;                ///< empty unless requested
};

/// True if SimGrid's simulator, a program that Sextant starts for each simulation, is installed.
bool available();
/// A sentence that names the paths where the simulator was searched for, if it is not installed.
std::string unavailable();

/// Runs the programs of all ranks on a simulated machine. All ranks begin at 0; steps start as in
/// `Execution`: when dependences and window allow, messages when both sides are ready, folds as
/// operands arrive. The simulator resolves link contention.
///
/// Throws    InvalidFile: an unreadable platform or order. InvalidTask: fewer cores than ranks, or
///           hosts that the platform lacks or that are named twice. std::logic_error naming ranks
///           and steps: unmatched messages or a deadlock. Error if the simulator is not installed,
///           naming the package, or cannot be started.
/// Cost      about (messages + operands) times the logarithm of the number of activities in
///           progress, plus the work of sharing links.
/// Deterministic to the bit.
Simulation simulate(const Question& question);

/// Simulates without SimGrid: the same execution on the same network with the same sharing rule,
/// except that rates are recomputed only after 1/200 of the duration of some message has passed.
/// Thousands of simultaneous messages take seconds; times differ by .01 % in the median
/// (docs/platform.md).
///
/// Throws    as `simulate`; InvalidFile for SimGrid's XML, whose routes only SimGrid can compute.
/// Cost      per recomputation, the links on the paths of all messages in progress.
/// Deterministic to the bit.
Simulation simulate_on_clock(const Question& question);

/// Simulates without SimGrid on a platform that has already been read.
Simulation simulate_on_clock(const Question& question, const Platform& platform);

} // namespace sextant::simulate
