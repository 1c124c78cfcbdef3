// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"

#include <mpi.h>

namespace sextant {

/// A caller's MPI communicator as ours. The first call on a communicator duplicates it, without
/// blocking inside MPI, and keeps the duplicate with it; later calls find it again. The duplicate
/// goes when the caller's communicator is freed and nothing of ours uses it any more; what is still
/// there after MPI_Finalize may be destroyed, not used.
///
/// Requires  MPI initialised; every rank of `communicator` to call (collective the first time).
///           MPI calls must not be made from several threads at once unless MPI was asked for that.
/// Throws    InvalidTask where it is MPI_COMM_NULL or joins two groups; CommunicationFailed.
Communicator from_mpi(MPI_Comm communicator);

/// Our duplicate behind a communicator, to call MPI on; MPI_COMM_NULL where it runs on threads. Its
/// errors are returned, not fatal. Messages on it must not be open while a program runs.
MPI_Comm to_mpi(const Communicator& communicator);

} // namespace sextant
