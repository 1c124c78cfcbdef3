// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/schedule/program.hpp"

namespace sextant {

/// The cost of a schedule's folds, seen as a circuit of operator applications, without messages.
struct Circuit {
    Elements work = 0; ///< applications of the operator to two elements
    int span = 0;      ///< length of the longest chain of dependent applications

    /// The distance of a prefix circuit with this many inputs from Snir's lower bound, work + span
    /// >= 2 inputs − 2.
    /// Source    Snir, J. Algorithms 7(2), 1986, doi:10.1016/0196-6774(86)90003-9
    Elements deficiency(Elements inputs) const { return work + span - 2 * inputs + 2; }
};

/// Computes the costs of a schedule's folds from all ranks' programs.
///
/// Requires  a schedule that finishes and has no compute steps; otherwise throws std::logic_error
///           naming rank and step. A fold applies its operator to its operands one after another,
///           in order.
/// Cost      linear in the elements moved and folded.
Circuit circuit(const Schedule& schedule);

} // namespace sextant
