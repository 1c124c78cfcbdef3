// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/machine/profile.hpp"
#include "sextant/machine/topology.hpp"
#include "sextant/model/model.hpp"

#include <functional>
#include <map>
#include <vector>

namespace sextant::model {

/// The counting rules of C³.
enum class Counting : std::uint8_t {
    exact, ///< as the paper defines C³
    /// As in the paper's figures: fractions of packets are charged, and where a processor
    /// communicates with all others in a superstep, p replaces p − 1.
    paper
};

/// Communication units of C³, split as in the paper's figures: set-ups of s units each, latency
/// that does not depend on message sizes, and the part that depends on sizes.
struct Units {
    double setups = 0, latency = 0, packets = 0;

    double total(double s) const { return s * setups + latency + packets; }
    Units operator+(const Units& o) const {
        return {setups + o.setups, latency + o.latency, packets + o.packets};
    }
};

struct Pair {
    int from = 0, to = 0;
    auto operator<=>(const Pair&) const = default;
};

/// Messages that travel at the same time on one submachine: the bytes sent from one rank to
/// another, for each pair.
struct Superstep {
    machine::Wiring wiring; ///< mean distance h and bisection b of the submachine
    int processors = 0;     ///< number of processors p of the submachine
    std::map<Pair, Bytes> messages;
};

/// The C³ charge for a superstep: max (S_i + R_i) + C_l + C_p.
///
/// Note      the terms in h and s are charged only to processors that send or receive a message.
///           For store-and-forward routing without blocking sends, S_i is charged as printed in
///           Figure 3, although by Figure 2 a single message takes one packet time less.
/// Source    Hambrusch and Khokhar, JPDC 32(2), 1996, section 2, doi:10.1006/jpdc.1996.0010
Units charge(const Superstep& superstep, const machine::C3& machine, Counting counting);

/// A rectangle of processors of a mesh; on other machines, `width` consecutive processors.
struct Submachine {
    int x = 0, y = 0, width = 0, height = 1;

    auto operator<=>(const Submachine&) const = default;
};

/// Options for the application of C³ to a machine and a schedule.
struct C3Reading {
    Counting counting = Counting::exact;
    /// True: use the distances that the paper gives; false: exact mean distances.
    bool published_distances = false;
    /// The submachine of a round and group, if known. By default a round without groups uses the
    /// whole machine, and for a round with groups the machine is cut into equal submachines, as
    /// small as the groups allow. Groups in the same submachine are charged together.
    std::function<Submachine(int round, int group)> submachine = {};
};

/// The C³ charge for one round, in units: the communication of its most expensive submachine, and
/// the computation of the processor that touches the most bytes.
struct RoundCharge {
    int round = 0;
    Units communication;
    double computation = 0;
};

/// Returns the charges for the rounds of a schedule, in order.
///
/// Requires  rounds that are supersteps: no message depends on one received in its own round
///           (CannotExpress otherwise). Meshes have two dimensions if there are groups, or if the
///           number of ranks differs from the number of processors.
std::vector<RoundCharge> charges(const Question& question, const C3Reading& reading = {});

/// Predicts by C³: each superstep is charged for the busiest processor, link congestion and
/// processor congestion; the profile's time per unit converts charges to seconds. The schedule's
/// `round` labels supersteps, its `group` labels submachines. If the number of ranks differs from
/// the number of processors in the profile, a machine of the same shape with one processor per rank
/// is assumed.
///
/// Source    Hambrusch and Khokhar, JPDC 32(2), 1996, doi:10.1006/jpdc.1996.0010
Prediction c3(const Question& question);
/// Predicts by C³ with explicit submachines, or with the paper's counting rules.
Prediction c3(const Question& question, const C3Reading& reading);

/// The messages and work of one round.
struct Round {
    std::map<int, std::map<Pair, Bytes>> messages; ///< bytes of each pair, by group
    std::map<int, double> touched;                 ///< bytes touched, by rank
};

/// Returns the rounds of a schedule by their labels. Throws CannotExpress if a message depends on
/// one received in its own round.
std::map<int, Round> rounds_of(const Question& question);

/// Returns the machine of a profile, scaled to the number of ranks if the numbers differ. Throws
/// CannotExpress.
machine::Topology machine_for(const Question& question);

/// The messages of a round, grouped by the submachine that they share.
std::map<Submachine, std::map<Pair, Bytes>> by_submachine(int number, const Round& round,
                                                          const machine::Topology& machine,
                                                          const C3Reading& reading);

/// Returns h and b of a submachine.
machine::Wiring wiring_of(const Submachine& submachine, const machine::Topology& machine,
                          const machine::C3& c3, const C3Reading& reading);

} // namespace sextant::model
