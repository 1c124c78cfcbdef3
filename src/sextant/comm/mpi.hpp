// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"

#include <mpi.h>

namespace sextant {

/// A caller's MPI communicator as ours. The first call on a communicator duplicates it, without
/// blocking, and keeps the duplicate with it; later calls find it again. Freed with it.
///
/// Requires  MPI initialised; every rank of `communicator` to call (collective the first time).
///           MPI calls must not be made from several threads at once unless MPI was asked for that.
/// Throws    CommunicationFailed.
Communicator from_mpi(MPI_Comm communicator);

} // namespace sextant
