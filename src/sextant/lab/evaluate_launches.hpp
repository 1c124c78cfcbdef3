// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/command/operation.hpp"
#include "sextant/lab/evaluation.hpp"

namespace sextant::command {

/// One launch: every case that the values ask for, predicted and measured. Its round trip is the
/// one before, or the one after where only that is of another state than the profile's.
/// Collective.
///
/// Output    the evaluation on rank 0; elsewhere nothing of use.
Evaluation evaluate_here(const Values& values, const Communicator& communicator);

/// Several launches of this program, one after another. One that met the machine in another state
/// than the profile's is left out and made up for, some times; standard output says so.
/// Throws    Error where none met it in that state.
Evaluation evaluate_in_launches(const Values& values);

} // namespace sextant::command
