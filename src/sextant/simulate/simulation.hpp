// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/program.hpp"
#include "sextant/schedule/trace.hpp"
#include "sextant/simulate/platform.hpp"

#include <string>
#include <vector>

namespace sextant::simulate {

/// What is to be simulated: one run of a schedule on a machine that need not be there.
struct Question {
    const Schedule& schedule;
    /// A platform: SimGrid's XML, or the JSON of docs/platform.md.
    std::string platform;
    /// Hosts by name; each takes as many ranks as it has cores before the next. Empty: the hosts of
    /// the platform, in its order.
    std::vector<OrderedHost> order = {};
    Bytes element_size = 0;
    /// The bytes that travel for one element, over its size: 1 but for compressed or sparse data.
    double density = 1;
    /// Of sparse images: the part of the elements that is active in each round, in what travels as
    /// in what is combined; beyond its end the last. Empty: all of them.
    std::vector<double> active_by_round = {};
    Costs costs = {};
    Association association = Association::in_order;
    bool timeline = false;
};

struct Simulation {
    Seconds seconds = 0;           ///< until the last step of the last rank
    std::vector<Seconds> finished; ///< of each rank
    Trace timeline;                ///< where asked for
};

/// Whether SimGrid's simulator, a program that Sextant starts for each simulation, is installed.
bool available();
/// Where it was looked for, in a sentence, if it is not.
std::string unavailable();

/// Runs the programs of all ranks on a simulated machine. All begin at 0; steps start as in
/// `Execution`: as dependences and window allow, messages once both sides are ready, folds as
/// operands come. What messages share, the simulator decides.
///
/// Throws    InvalidFile: a platform or order that cannot be read. InvalidTask: fewer cores than
///           ranks, hosts that the platform lacks or that come twice. std::logic_error naming ranks
///           and steps: messages that do not match, ranks that wait for ever. Error where the
///           simulator is not installed, naming the package, or cannot be started.
/// Cost      about (messages + operands) times the logarithm of what is under way at once, and more
///           the more messages share a link.
/// Deterministic to the bit.
Simulation simulate(const Question& question);

/// Answers a question without SimGrid: the same play on the same network, and links shared by the
/// same rule, but dealt anew only once a two-hundredth of some message's time has passed. So
/// thousands of messages at once take seconds, and times differ by a per cent or two
/// (docs/platform.md).
///
/// Throws    as `simulate`; InvalidFile for SimGrid's XML, whose routes only SimGrid knows.
/// Cost      by how often shares change, the links on the ways of all messages under way.
/// Deterministic to the bit.
Simulation simulate_on_clock(const Question& question);

/// The same on a platform that has been read.
Simulation simulate_on_clock(const Question& question, const Platform& platform);

} // namespace sextant::simulate
