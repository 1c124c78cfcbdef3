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

/// What a model predicts of it is a lower bound for the whole schedule: a peer is never readier
/// than this. But for anomalies of queues: where several messages wait for one rank, being ready
/// early may put them into a worse order, and the whole takes a few per cent less.
///
/// Cost      that of the one program.
Alone alone(Program program, int rank);

/// The program without the messages that it lends where memory is shared: what those cost is their
/// receivers' affair, which a bound of this rank must not guess. Also without those that their
/// senders' folds or kernels may make where they are wanted. `usual` as in Program::bytes_of.
Program without_loans(Program program, Bytes usual);

} // namespace sextant::planner
