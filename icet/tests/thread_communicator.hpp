// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include <IceT.h>

namespace sextant::icet::test {

/// Runs `body` on threads. Each thread has an IceTCommunicator whose functions exchange data
/// between the threads, like that of a program without MPI. Exceptions of bodies are not handled.
void on_threads(int ranks, const std::function<void(IceTCommunicator)>& body);

} // namespace sextant::icet::test
