// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/schedule/program.hpp"

namespace sextant {

/// The folds of a schedule as a circuit: what its operator costs, whatever messages cost.
struct Circuit {
    Elements work = 0; ///< applications of the operator to two elements
    int span = 0;      ///< the longest chain of them that depend on one another

    /// How far a prefix circuit of so many inputs is from Snir's bound, which none can fall below:
    /// work + span >= 2 inputs − 2.
    /// Source    Snir, J. Algorithms 7(2), 1986, doi:10.1016/0196-6774(86)90003-9
    Elements deficiency(Elements inputs) const { return work + span - 2 * inputs + 2; }
};

/// Reads the circuit off all ranks' programs.
///
/// Requires  a schedule that finishes; otherwise throws std::logic_error naming rank and step. A
///           fold applies its operator to its operands one after another, in order.
/// Cost      about the elements moved and folded.
Circuit circuit(const Schedule& schedule);

} // namespace sextant
