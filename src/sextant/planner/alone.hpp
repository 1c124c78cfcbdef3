// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/program.hpp"

#include <vector>

namespace sextant::planner {

/// One rank's program among peers that wait for nothing: each has all it will send from the start,
/// and takes what comes at once.
struct Alone {
    Schedule schedule;      ///< the rank itself first, then its peers
    std::vector<int> ranks; ///< who they are
};

/// What the rank does by itself; model::Question::least asks for the time that it needs in any
/// case. What a model predicts of it otherwise is no bound: a fold that gets its operands early may
/// combine them in more passes.
///
/// Cost      that of the one program.
Alone alone(Program program, int rank);

/// The program without the messages that it lends where memory is shared: what those cost is their
/// receivers' affair. Also without those that their senders' folds or kernels may make where they
/// are wanted. `usual` as in Program::bytes_of.
Program without_loans(Program program, Bytes usual);

} // namespace sextant::planner
