// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"

#include <functional>

namespace sextant {

/// Runs `body` once a rank, each on a thread of its own, and waits for all.
///
/// When a rank's body throws, the others are cancelled: whatever they wait for throws PeerFailed.
/// When it returns while others wait for that rank, they throw PeerFailed, which names it.
/// When all have ended, the first error (not a PeerFailed, if there is another) is thrown again.
/// Requires  ranks >= 1 (InvalidTask).
void run_threads(int ranks, const std::function<void(Communicator)>& body);

} // namespace sextant
