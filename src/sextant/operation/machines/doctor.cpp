// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/machines/doctor.hpp"

#include "sextant/calibrate/staleness.hpp"
#include "sextant/calibrate/this_machine.hpp"
#include "sextant/comm/cores.hpp"
#include "sextant/comm/launch.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/planner/usual.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/statvfs.h>
#include <unistd.h>

namespace sextant::operation {

namespace {

enum class State { good, note, bad };

/// One thing looked at, what was found, and what to do about it.
struct Finding {
    std::string what;
    State state = State::good;
    std::string found, advice;
};

std::string output_of(const std::string& command) {
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen((command + " 2>/dev/null").c_str(), "r"),
                                                     pclose);
    std::string output;
    std::array<char, 256> line{};
    while (pipe && std::fgets(line.data(), line.size(), pipe.get()))
        output += line.data();
    return output;
}

std::string first_line_of(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

Finding mpi_library() {
    const std::string ours = mpi_of_build();
    if (!ours.empty())
        return {"MPI", State::good, "built with " + ours, ""};
    return {"MPI", State::note, "built without MPI: ranks are threads of one process",
            "install libopenmpi-dev and openmpi-bin and build again with -DSEXTANT_MPI=ON"};
}

/// The mpirun that a user gets must be of the MPI that this was built with.
Finding mpi_launcher() {
    const std::string ours = mpi_of_build();
    const std::string banner = output_of("mpirun --version");
    if (banner.empty()) {
        return {"launcher", ours.empty() ? State::note : State::bad, "no mpirun on the path",
                "install openmpi-bin"};
    }
    const bool open_mpi =
        banner.find("Open MPI") != std::string::npos || banner.find("OpenRTE") != std::string::npos;
    const bool hydra = banner.find("HYDRA") != std::string::npos;
    const std::string theirs = open_mpi ? "Open MPI" : hydra ? "MPICH" : "an unknown MPI";
    if (!ours.empty() && !ours.starts_with(theirs)) {
        return {"launcher", State::bad,
                fmt::format("mpirun is of {}, but this was built with {}", theirs, ours),
                fmt::format("put the mpirun of {} first on the path", ours)};
    }
    return {"launcher", State::good, "mpirun of " + theirs, ""};
}

Finding started_by() {
    const LaunchedBy by = detect_launcher();
    const std::string mismatch = launcher_mismatch(by);
    if (!mismatch.empty())
        return {"this process", State::bad, mismatch, ""};
    return {"this process", State::good,
            by.launcher == Launcher::none ? "started by no launcher: ranks would be threads"
                                          : fmt::format("started by a launcher ({})", by.evidence),
            ""};
}

Finding shared_memory() {
    struct statvfs info {};
    if (statvfs("/dev/shm", &info) != 0) {
        return {"shared memory", State::bad, "/dev/shm is missing", "mount a tmpfs at /dev/shm"};
    }
    const double free =
        static_cast<double>(info.f_bavail) * static_cast<double>(info.f_frsize) / 1e9;
    const bool writable = access("/dev/shm", W_OK) == 0;
    return {"shared memory", writable && free > .5 ? State::good : State::bad,
            fmt::format("/dev/shm has {:.1f} GB free{}", free, writable ? "" : ", not writable"),
            writable && free > .5 ? ""
                                  : "MPI on one node needs it; remount it larger and writable"};
}

Finding huge_pages() {
    const std::string mode = first_line_of("/sys/kernel/mm/transparent_hugepage/enabled");
    const bool on =
        mode.find("[always]") != std::string::npos || mode.find("[madvise]") != std::string::npos;
    return {"huge pages", on ? State::good : State::note,
            mode.empty() ? "the kernel has none" : "transparent: " + mode,
            on ? "" : "frames cost more page faults; set transparent_hugepage to madvise"};
}

Finding simd() {
    std::string best = "baseline of the compiler";
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
        best = "AVX2";
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw"))
        best = "AVX-512";
    return {
        "SIMD", State::good,
        fmt::format("this processor has {}; kernels are compiled for the x86-64 baseline", best),
        ""};
#else
    return {"SIMD", State::good, "kernels are compiled for the " + best, ""};
#endif
}

Finding cores() {
    return {"cores", State::good, fmt::format("{}", Cores::available().count()), ""};
}

Finding volume() {
    const char* path = "/usr/share/mricron/templates/ch2.nii.gz";
    const bool there = std::filesystem::exists(path);
    return {"sample volume", there ? State::good : State::note,
            there ? path : "the brain volume of ./run is not installed",
            there ? "" : "install mricron-data; ./run uses the partial images it ships instead"};
}

/// What predictions are made with.
Finding profile() {
    const bool threads = detect_launcher().launcher == Launcher::none;
    const std::string measure = "sextant calibrate measures this machine";
    try {
        const planner::UsualPlanner usual = planner::usual_planner(threads ? "threads" : "mpi", "");
        if (!usual.warnings.empty())
            return {"profile", State::bad, usual.warnings.front(), measure};
        if (usual.path.empty())
            return {"profile", State::note, "none: predictions are of a built-in machine", measure};
        const machine::Profile& profile = usual.planner->machine();
        const std::vector<std::string> differences =
            calibrate::differences(profile, calibrate::describe_machine(profile.transport));
        if (differences.empty())
            return {"profile", State::good, usual.path, ""};
        return {"profile", State::note, usual.path + " is not of this machine as it is",
                "sextant machine check " + usual.path + " says why"};
    } catch (const InvalidFile& unreadable) {
        return {"profile", State::bad, unreadable.what(), "unset SEXTANT_MACHINE, or mend it"};
    }
}

std::vector<Finding> examine() {
    return {mpi_library(),   mpi_launcher(), started_by(), cores(), simd(),
            shared_memory(), huge_pages(),   profile(),    volume()};
}

const char* word(State state) {
    return state == State::good ? "good" : state == State::note ? "note" : "BAD";
}

int run_doctor(const Values& values) {
    bool well = true;
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const Finding& finding : examine()) {
        well = well && finding.state != State::bad;
        json.push_back({{"what", finding.what},
                        {"state", word(finding.state)},
                        {"found", finding.found},
                        {"advice", finding.advice}});
        if (values.flag("json"))
            continue;
        std::fputs(
            fmt::format("{:<5} {:<15} {}\n", word(finding.state), finding.what, finding.found)
                .c_str(),
            stdout);
        if (!finding.advice.empty()) {
            std::fputs(fmt::format("{:<21} -> {}\n", "", finding.advice).c_str(), stdout);
        }
    }
    if (values.flag("json"))
        std::fputs((json.dump(2) + "\n").c_str(), stdout);
    return well ? 0 : 1;
}

} // namespace

Operation doctor_operation() {
    return {"doctor",
            "look at this machine: MPI and its launcher, shared memory, SIMD, its profile",
            "  sextant doctor",
            {{"json", Type::flag, "", "", "as JSON"}},
            run_doctor,
            true};
}

} // namespace sextant::operation
