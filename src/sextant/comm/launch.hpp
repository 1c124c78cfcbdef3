// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"

#include <functional>
#include <string>

namespace sextant {

/// Who started this process, read off its environment before MPI_Init.
enum class Launcher { none, open_mpi, mpich, pmix, slurm_without_mpi };

struct LaunchedBy {
    Launcher launcher = Launcher::none;
    std::string evidence; ///< the variable that tells, for messages
    int size = 0;         ///< processes, where the launcher says so; else 0
    int rank = 0;         ///< of this process; 0 without a launcher
};

LaunchedBy detect_launcher();

/// The MPI this was built with, "Open MPI 4.1.4" for example; "" without MPI.
std::string mpi_of_build();

/// What keeps this process from running under its launcher: another MPI's, or several tasks with no
/// MPI to join them, which would become so many separate jobs. "" where all is well.
std::string launcher_mismatch(const LaunchedBy& by);

/// Runs `body` on every rank: under an MPI launcher on its processes, otherwise on `ranks` threads
/// of this one, without touching MPI.
///
/// Under a launcher, rank 0 prints an AgreedFailure, and it is thrown again on every rank when MPI
/// has been shut down; any other error is printed with its rank and ends all processes at once
/// (exit code 1), since others may wait for this one. For programs: a library's caller keeps MPI in
/// his own hands (mpi.hpp).
/// Throws    InvalidTask at a launcher mismatch; what `body` throws.
void launch(int ranks, const std::function<void(Communicator)>& body);

} // namespace sextant
