// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/operation/operation.hpp"

#include <functional>

namespace sextant::operation {

/// The most ranks that are threads of one process.
inline constexpr int most_threads = 1024;

/// Runs `body` on every rank: those of the launcher, else so many threads.
/// Throws AgreedFailure where a launcher started another number than the option asks for, or gave
/// ranks different options.
void launch_ranks(const Values& values, int threads, const std::function<void(Communicator)>& body,
                  const char* option = "ranks");

/// The same on as many threads as the option says, else one a core.
void launch_ranks_or_cores(const Values& values, const std::function<void(Communicator)>& body,
                           const char* option = "ranks");

} // namespace sextant::operation
