// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/launch.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/scope.hpp"
#include "sextant/comm/threads.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/text.hpp"

#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#ifdef SEXTANT_WITH_MPI
#include "sextant/comm/mpi.hpp"
#endif

namespace sextant {

namespace {

const char* variable(const char* name) {
    const char* value = std::getenv(name);
    return value && *value ? value : nullptr;
}

int number(const char* name) {
    const char* value = variable(name);
    return value ? std::atoi(value) : 0;
}

} // namespace

LaunchedBy detect_launcher() {
    if (variable("OMPI_COMM_WORLD_SIZE")) {
        return {Launcher::open_mpi, "OMPI_COMM_WORLD_SIZE", number("OMPI_COMM_WORLD_SIZE"),
                number("OMPI_COMM_WORLD_RANK")};
    }
    for (const char* name : {"PMI_FD", "HYDI_CONTROL_FD"}) {
        if (variable(name))
            return {Launcher::mpich, name, number("PMI_SIZE"), number("PMI_RANK")};
    }
    if (variable("PMIX_RANK"))
        return {Launcher::pmix, "PMIX_RANK", 0, number("PMIX_RANK")};
    const bool slurm_step = variable("SLURM_STEP_ID") && variable("SLURM_PROCID");
    if (slurm_step && number("SLURM_NTASKS") > 1) {
        return {Launcher::slurm_without_mpi, "SLURM_STEP_ID", number("SLURM_NTASKS"),
                number("SLURM_PROCID")};
    }
    return {};
}

std::string launcher_mismatch(const LaunchedBy& by) {
    const std::string ours = mpi_of_build();
    const auto started = [&](std::string_view launcher) {
        return fmt::format("started by {} ({} is set), but this sextant was built with {}; ",
                           launcher, by.evidence, ours.empty() ? "no MPI" : ours);
    };
    const bool open_mpi = ours.starts_with("Open MPI"), mpich = ours.starts_with("MPICH");
    if (by.launcher == Launcher::open_mpi && !open_mpi) {
        return started("Open MPI's mpirun") + "use the mpirun of that MPI, or run without mpirun";
    }
    if (by.launcher == Launcher::mpich && !mpich) {
        return started("MPICH's mpirun") + "use the mpirun of that MPI, or run without mpirun";
    }
    if (by.launcher == Launcher::pmix && ours.empty()) {
        return started("a PMIx launcher") + "build sextant against an MPI that supports PMIx";
    }
    if (by.launcher == Launcher::slurm_without_mpi) {
        return fmt::format("started by srun as {} tasks without MPI, which would run as {} "
                           "separate jobs; use srun --mpi=pmix or mpirun",
                           by.size, by.size);
    }
    return "";
}

#ifdef SEXTANT_WITH_MPI

std::string mpi_of_build() {
#if defined(OPEN_MPI)
    return fmt::format("Open MPI {}.{}.{}", OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION,
                       OMPI_RELEASE_VERSION);
#elif defined(MPICH_VERSION)
    return fmt::format("MPICH {}", MPICH_VERSION);
#else
    return "an MPI";
#endif
}

namespace {

/// Initialises MPI; the destructor finalizes it.
class Session {
  public:
    explicit Session(const LaunchedBy& by) {
        int given = 0;
        MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &given);
        int size = 0;
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        if (by.size > 0 && size != by.size) {
            MPI_Finalize();
            throw InvalidTask(
                fmt::format("{} indicates {} processes, but MPI found {}: the launcher "
                            "belongs to a different MPI than {}",
                            by.evidence, by.size, size, mpi_of_build()));
        }
    }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    ~Session() { MPI_Finalize(); }
};

void tell(const std::string& line) {
    std::fputs(fmt::format("sextant: {}\n", printable(bounded_message(line))).c_str(), stderr);
}

void launch_mpi(const LaunchedBy& by, const std::function<void(Communicator)>& body) {
    const Session session(by);
    const Communicator world = from_mpi(MPI_COMM_WORLD);
    try {
        body(world);
    } catch (AgreedFailure& error) {
        // Every rank gets here. A launcher may kill all processes when the first one fails, so all
        // wait until the error has been printed.
        if (world.rank() == 0)
            tell(error.what());
        world.barrier();
        // Receives messages that were sent while the stack unwound: some MPI libraries report
        // messages that were not received.
        if (Scoping* const scoping = scoping_of(world))
            scoping->look();
        error.set_reported();
        throw;
    } catch (...) {
        tell(fmt::format("rank {}: {}", world.rank(), text_of_current_exception()));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

} // namespace

#else

std::string mpi_of_build() {
    return "";
}

#endif

void launch(int ranks, const std::function<void(Communicator)>& body) {
    const LaunchedBy by = detect_launcher();
    const std::string mismatch = launcher_mismatch(by);
    if (!mismatch.empty())
        throw InvalidTask(mismatch);
#ifdef SEXTANT_WITH_MPI
    if (by.launcher != Launcher::none)
        return launch_mpi(by, body);
#endif
    run_threads(ranks, body);
}

} // namespace sextant
