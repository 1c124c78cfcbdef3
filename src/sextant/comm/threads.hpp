// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"

#include <functional>

namespace sextant {

/// The maximum number of ranks, more than any machine has cores. Starting this many threads takes
/// seconds.
inline constexpr int most_thread_ranks = 4096;

/// Runs `body` once per rank, each on its own thread, and waits for all.
///
/// If a rank's body throws, the others are cancelled: every call in which they wait throws
/// PeerFailed. If a body returns while other ranks wait for its rank, these throw a PeerFailed that
/// names the rank. When all threads have ended, the first error is rethrown; a PeerFailed only if
/// there is no other error.
/// Requires  1 <= ranks <= most_thread_ranks (InvalidTask).
/// Throws    CommunicationFailed if the system cannot start that many threads, once those that
///           started have ended.
void run_threads(int ranks, const std::function<void(Communicator)>& body);

} // namespace sextant
