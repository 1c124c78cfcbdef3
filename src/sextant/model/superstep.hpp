// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/machine/profile.hpp"
#include "sextant/machine/topology.hpp"

#include <map>

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

} // namespace sextant::model
