// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/model/c3.hpp"

#include <map>
#include <vector>

namespace sextant::model {

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
