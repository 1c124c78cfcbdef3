// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/command/operation.hpp"
#include "sextant/lab/evaluation.hpp"

namespace sextant::command {

/// One launch: predicts and measures every requested case. The round trip recorded is the one
/// before the cases, or the one after if only that is in another state than the profile's. Returns
/// the evaluation at rank 0; unspecified elsewhere. Collective.
Evaluation evaluate_here(const Values& values, const Communicator& communicator);

/// Several launches of this program, one after another. A launch with the machine in another state
/// than the profile's is discarded and repeated, a limited number of times; a note is printed.
/// Throws Error if no launch was in that state.
Evaluation evaluate_in_launches(const Values& values);

} // namespace sextant::command
