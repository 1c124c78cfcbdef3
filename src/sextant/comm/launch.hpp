// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"

#include <functional>
#include <string>

namespace sextant {

/// The program that started this process, read from its environment before MPI_Init.
enum class Launcher { none, open_mpi, mpich, pmix, slurm_without_mpi };

struct LaunchedBy {
    Launcher launcher = Launcher::none;
    std::string evidence; ///< variable that identifies the launcher, for error messages
    int size = 0;         ///< number of processes, if the launcher states it; else 0
    int rank = 0;         ///< rank of this process; 0 without a launcher
};

LaunchedBy detect_launcher();

/// The MPI library that Sextant was built with, for example "Open MPI 4.1.4"; "" without MPI.
std::string mpi_of_build();

/// The reason why this process cannot run under its launcher; "" if it can. Either the launcher
/// belongs to a different MPI library, or it started several tasks without MPI, which would run as
/// separate jobs.
std::string launcher_mismatch(const LaunchedBy& by);

/// Runs `body` on every rank: under an MPI launcher on its processes, otherwise on `ranks` threads
/// of this process, without using MPI.
///
/// Under a launcher, rank 0 prints an AgreedFailure, which is rethrown on every rank after MPI has
/// been finalized. Any other error is printed with its rank and ends all processes at once (exit
/// code 1), because other ranks may wait for the failed one. For programs: callers of the library
/// manage MPI themselves (mpi.hpp).
/// Throws    InvalidTask on a launcher mismatch; what `body` throws.
void launch(int ranks, const std::function<void(Communicator)>& body);

} // namespace sextant
