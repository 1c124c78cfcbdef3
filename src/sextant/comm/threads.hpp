// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"

#include <functional>

namespace sextant {

/// Runs `body` once per rank, each on its own thread, and waits for all.
///
/// If a rank's body throws, the others are cancelled: whatever they wait for throws PeerFailed. If
/// a body returns while other ranks wait for it, they throw a PeerFailed that names it. When all
/// have ended, the first error (not a PeerFailed, if there is another) is rethrown.
/// Requires  ranks >= 1 (InvalidTask).
void run_threads(int ranks, const std::function<void(Communicator)>& body);

} // namespace sextant
