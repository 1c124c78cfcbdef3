// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"

namespace sextant::lab {

/// `sextant bench`: compares the run times of Sextant's and of MPI's algorithms.
command::Operation bench_operation();
/// `sextant tune`: selects and verifies algorithms of MPI's collective operations.
command::Operation tune_operation();
/// `sextant evaluate`: measures the quality of the planner's predictions and choices on this
/// machine.
command::Operation evaluate_operation();

/// The commands of `sextant-lab`.
command::Commands catalogue();

} // namespace sextant::lab
