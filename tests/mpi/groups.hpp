// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"

#include <functional>

namespace sextant::test {

inline constexpr int group_sizes[] = {1, 2, 3, 4, 7};

/// Calls `body` on the first `size` ranks with a communicator of their own, created by the MPI of
/// this build. Tests do not include <mpi.h>, so that they are compiled once for all MPI
/// implementations.
void on_group(int size, const std::function<void(const Communicator&)>& body);

} // namespace sextant::test
