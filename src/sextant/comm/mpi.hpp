// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"

#include <string>

#include <mpi.h>

namespace sextant {

/// Makes a Communicator from a caller's MPI communicator. The first call duplicates the caller's
/// communicator, without blocking inside MPI, and caches the duplicate as an MPI attribute; later
/// calls use the cached duplicate. It is freed once the caller's communicator has been freed and
/// nothing uses the duplicate any more. After MPI_Finalize a Communicator may be destroyed but not
/// used.
///
/// Requires  MPI initialised; a call on every rank of `communicator` (collective the first time).
///           MPI calls must not be made from several threads at once unless MPI was initialised for
///           that.
/// Throws    InvalidTask if `communicator` is MPI_COMM_NULL or an intercommunicator;
///           CommunicationFailed.
Communicator from_mpi(MPI_Comm communicator);

/// The duplicate behind a Communicator, for direct MPI calls; MPI_COMM_NULL on threads. Its errors
/// are returned, not fatal. No direct call on the duplicate may be pending while a program runs.
MPI_Comm to_mpi(const Communicator& communicator);

/// Sends and receives stop notices: one rank asks all ranks to stop the current operation. For
/// callers of operations that can be cancelled (RunControl). Without notices, other ranks stop only
/// when they next wait for this one. Must be used by only one thread per rank.
class StopNotices {
  public:
    /// Begins the next operation on a caller's communicator. All ranks must begin the same
    /// operation. Collective the first time, as from_mpi().
    explicit StopNotices(MPI_Comm communicator);

    /// Sends a notice to every other rank. Ranks need not receive the notice.
    void send();
    /// Sends a notice with the reason, truncated to 2000 bytes.
    void send(const std::string& reason);
    /// True if a rank has sent a notice during this operation. Does not wait.
    bool received();
    /// The first reason received, with the rank that sent it, for example "rank 1: out of memory";
    /// empty if no reason was received.
    const std::string& reason() const;

  private:
    struct State;
    State& state_; ///< owned by the caller's communicator
};

} // namespace sextant
