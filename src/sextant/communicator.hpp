// SPDX-License-Identifier: BSD-3-Clause
// Groups of ranks: the processes of an MPI communicator, or threads of this process.
#pragma once

#if __cplusplus <= 201703L
#error "sextant/communicator.hpp needs C++20: compile with -std=c++20"
#else

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/comm/launch.hpp"
#include "sextant/comm/node_sharing.hpp"
#include "sextant/comm/scope.hpp"
#include "sextant/comm/threads.hpp"

#ifdef SEXTANT_WITH_MPI // defined by the package if Sextant was built with MPI
#include "sextant/comm/mpi.hpp"
#endif

#endif
