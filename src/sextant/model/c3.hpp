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

/// How C³ counts.
enum class Counting : std::uint8_t {
    exact, ///< as the paper defines it
    paper  ///< as its figures do: parts of packets count in part, and where one processor talks to
           ///< all others of a superstep, p for p − 1
};

/// Communication units of C³, kept apart as the paper's figures print them: set-ups of s units,
/// latencies that do not depend on sizes, and what does.
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

/// Messages that travel together on one submachine, from processor to processor: what each pair
/// exchanges.
struct Superstep {
    machine::Wiring wiring; ///< h and b of the submachine
    int processors = 0;     ///< p of it
    std::map<Pair, Bytes> messages;
};

/// What C³ charges for a superstep: max (S_i + R_i) + C_l + C_p.
///
/// Rulings   terms of h and s count only for processors that send, or receive, anything; store and
///           forward without blocking charges S_i as Figure 3 prints it, though Figure 2 would give
///           a single message one packet less.
/// Source    Hambrusch and Khokhar, JPDC 32(2), 1996, section 2, doi:10.1006/jpdc.1996.0010
Units charge(const Superstep& superstep, const machine::C3& machine, Counting counting);

/// A rectangle of processors of a mesh; of other machines, `width` consecutive ones.
struct Submachine {
    int x = 0, y = 0, width = 0, height = 1;

    auto operator<=>(const Submachine&) const = default;
};

/// How C³ reads a machine and a schedule.
struct C3Reading {
    Counting counting = Counting::exact;
    /// The distances that the paper gives, or those counted out.
    bool published_distances = false;
    /// Where the submachine of a round and group lies, if that is known. Otherwise a round without
    /// groups uses the whole machine, and one with groups is cut into equal submachines as small as
    /// its groups allow; groups of one submachine are charged together.
    std::function<Submachine(int round, int group)> submachine = {};
};

/// What C³ charges for one round, in units: the dearest of its submachines, and the processor that
/// touches most.
struct RoundCharge {
    int round = 0;
    Units communication;
    double computation = 0;
};

/// The rounds of a schedule, in order.
///
/// Requires  rounds that are supersteps: no message depends on one received in its own round
///           (CannotExpress otherwise). Meshes have two dimensions where there are groups, or more
///           or fewer ranks than processors.
std::vector<RoundCharge> charges(const Question& question, const C3Reading& reading = {});

/// C³: supersteps, each charged with the busiest processor, link congestion and processor
/// congestion; in seconds by the profile's time of a unit. The schedule's `round` tells supersteps
/// apart, `group` submachines. More or fewer ranks than the profile's machine has processors are
/// taken for a like machine of that size.
///
/// Source    Hambrusch and Khokhar, JPDC 32(2), 1996, doi:10.1006/jpdc.1996.0010
Prediction c3(const Question& question);
/// The same for who knows more of where groups lie, or reads it as the paper does.
Prediction c3(const Question& question, const C3Reading& reading);

/// What ranks do in one round.
struct Round {
    std::map<int, std::map<Pair, Bytes>> messages; ///< by group
    std::map<int, double> touched;                 ///< bytes, by rank
};

/// The rounds of a schedule by their labels. Throws CannotExpress where a message depends on one
/// received in its own round.
std::map<int, Round> rounds_of(const Question& question);

/// The machine of a profile, or one like it with as many processors as there are ranks. Throws
/// CannotExpress.
machine::Topology machine_for(const Question& question);

/// The messages of a round by the submachine that they share.
std::map<Submachine, std::map<Pair, Bytes>> by_submachine(int number, const Round& round,
                                                          const machine::Topology& machine,
                                                          const C3Reading& reading);

/// h and b of a submachine.
machine::Wiring wiring_of(const Submachine& submachine, const machine::Topology& machine,
                          const machine::C3& c3, const C3Reading& reading);

} // namespace sextant::model
