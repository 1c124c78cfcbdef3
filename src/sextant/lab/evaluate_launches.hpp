// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/lab/evaluation.hpp"

#include <cstdint>
#include <string>

namespace sextant::lab {

/// The task of an evaluation, and the number of launches.
struct EvaluateTask {
    int cases = 24;
    std::int64_t seed = 2026;
    int launches = 4, rounds = 9, ranks = 2;
    std::string transport = "threads"; ///< "threads", or "mpi": processes started by `launcher`
    std::string launcher = "mpirun -n 2";
    std::string machine; ///< profile to plan with; "": this machine's
};

/// One launch: predicts and measures every requested case. The machine's state is probed before and
/// after the cases; the recorded round trip is the first one that does not match the profile's
/// state, if any. Returns the evaluation on rank 0; unspecified elsewhere. Collective.
Evaluation evaluate_here(const EvaluateTask& task, const Communicator& communicator);

/// Several launches of this program, one after another. A launch during which the machine's state
/// differs from the profile's is discarded and repeated, a limited number of times; a note is
/// printed. Throws Error if the state differed in every launch.
Evaluation evaluate_in_launches(const EvaluateTask& task);

} // namespace sextant::lab
