// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/calibrate/this_machine.hpp"
#include "sextant/calibrate/validation.hpp"
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/launch.hpp"
#include "sextant/comm/provenance.hpp"
#include "sextant/comm/waiting.hpp"
#include "sextant/command/commands.hpp"
#include "sextant/command/options.hpp"
#include "sextant/core/child_process.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/json_value.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/kernel/pixel_fold.hpp"
#include "sextant/planner/planner.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace sextant::command {

namespace {

struct DoctorCommand {
    std::string json;
};

Record record_of(DoctorCommand& command) {
    Record record;
    declare_json(record, command.json);
    return record;
}

enum class State { good, note, bad };

/// One check: its subject, result, and advice.
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

/// Checks that mpirun belongs to the MPI of this build.
Finding mpi_launcher() {
    const std::string ours = mpi_of_build();
    const std::string banner = output_of("mpirun --version");
    if (banner.empty()) {
        return {"launcher", ours.empty() ? State::note : State::bad, "no mpirun in PATH",
                "install openmpi-bin"};
    }
    const bool open_mpi =
        banner.find("Open MPI") != std::string::npos || banner.find("OpenRTE") != std::string::npos;
    const bool hydra = banner.find("HYDRA") != std::string::npos;
    const std::string theirs = open_mpi ? "Open MPI" : hydra ? "MPICH" : "an unknown MPI";
    if (!ours.empty() && !ours.starts_with(theirs)) {
        return {
            "launcher", State::bad,
            fmt::format("mpirun belongs to {}, but this program was built with {}", theirs, ours),
            fmt::format("put the mpirun of {} first in PATH", ours)};
    }
    return {"launcher", State::good, "mpirun of " + theirs, ""};
}

/// Returns the line that rank 0 prints once all processes have exchanged messages.
std::string met(int processes) {
    return fmt::format("{} processes exchanged messages", processes);
}

Finding started_by(const LaunchedBy& by, int processes) {
    if (by.launcher == Launcher::none)
        return {"this process", State::good, "not started by a launcher: ranks are threads", ""};
    return {"this process", State::good,
            fmt::format("started by a launcher ({}); {}", by.evidence, met(processes)), ""};
}

/// A condition that a launcher may require: a part of its error message, and the environment or
/// options that satisfy the condition.
struct Demand {
    std::string_view said, environment, options, advice;
};

constexpr std::array demands{
    Demand{"as root", "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 ", "",
           "as root: export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"},
    Demand{"not enough slots", "", "--oversubscribe ",
           "for more processes than cores: mpirun --oversubscribe"}};

/// Runs two processes of a program with mpirun and returns their output.
std::string said_by_two(const std::string& program, const std::string& environment,
                        const std::string& options) {
    constexpr Seconds patience = 60;
    const std::unique_ptr<FILE, int (*)(FILE*)> said(std::tmpfile(), std::fclose);
    if (!said)
        return "cannot create a temporary file";
    const std::string file = fmt::format("/proc/{}/fd/{}", getpid(), fileno(said.get()));
    std::string failure;
    try {
        run_process(fmt::format("env {}mpirun {}-n 2 {} doctor --json >{} 2>&1", environment,
                                options, program, file),
                    patience);
    } catch (const Error& error) {
        failure = error.what(); // run_process also throws if the program reports a problem
    }
    std::ifstream text(file);
    return std::string(std::istreambuf_iterator<char>(text), {}) + failure;
}

/// Returns the first line that contains a letter.
std::string first_words_of(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (std::any_of(line.begin(), line.end(), [](unsigned char c) { return std::isalpha(c); }))
            return line;
    }
    return "";
}

/// Starts two processes as a user would, and finds the settings that the launcher requires.
Finding two_processes(const std::string& program) {
    std::string environment, options, advice, said;
    for (std::size_t tried = 0; tried <= demands.size(); ++tried) {
        said = said_by_two(program, environment, options);
        if (said.find(met(2)) != std::string::npos)
            return {"two processes", advice.empty() ? State::good : State::note,
                    fmt::format("{}mpirun {}-n 2: {}", environment, options, met(2)), advice};
        for (const Demand& demand : demands) {
            if (said.find(demand.said) == std::string::npos ||
                advice.find(demand.advice) != std::string::npos)
                continue;
            environment += demand.environment;
            options += demand.options;
            advice += (advice.empty() ? "" : "; ") + std::string(demand.advice);
        }
    }
    return {"two processes", State::bad,
            "mpirun -n 2 does not start two processes that can exchange messages",
            first_words_of(said)};
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
            writable && free > .5
                ? ""
                : "MPI on one node needs /dev/shm; remount it larger and writable"};
}

Finding huge_pages() {
    const std::string mode = first_line_of("/sys/kernel/mm/transparent_hugepage/enabled");
    const bool on =
        mode.find("[always]") != std::string::npos || mode.find("[madvise]") != std::string::npos;
    return {"huge pages", on ? State::good : State::note,
            mode.empty() ? "not supported by the kernel" : "transparent: " + mode,
            on ? "" : "large buffers cause more page faults; set transparent_hugepage to madvise"};
}

Finding simd() {
    return {"SIMD", State::good,
            fmt::format("kernels run with {}, chosen for this processor",
                        kernel::instruction_sets().front()),
            ""};
}

Finding volume() {
    const char* path = "/usr/share/mricron/templates/ch2.nii.gz";
    const bool there = std::filesystem::exists(path);
    return {
        "sample volume", there ? State::good : State::note,
        there ? path : "the sample volume that ./run uses (a scan of a head) is not installed",
        there ? ""
              : "install mricron-data; without it ./run uses partial images from the source tree"};
}

/// Checks the profile that predictions would use.
Finding profile() {
    const bool threads = detect_launcher().launcher == Launcher::none;
    const std::string measure = "run sextant calibrate to measure this machine";
    try {
        const planner::DefaultPlanner usual =
            planner::default_planner(threads ? "threads" : "mpi", "");
        if (!usual.warnings.empty())
            return {"profile", State::bad, usual.warnings.front(), measure};
        if (usual.path.empty())
            return {"profile", State::note, "none: predictions use a short probe of this machine",
                    measure};
        const machine::Profile& profile = usual.planner->machine();
        const std::vector<std::string> differences =
            calibrate::differences(profile, calibrate::describe_machine(profile.transport));
        if (differences.empty())
            return {"profile", State::good, usual.path, ""};
        return {"profile", State::note, usual.path + " does not describe this machine",
                "sextant machine check " + usual.path + " says why"};
    } catch (const InvalidFile& unreadable) {
        return {"profile", State::bad, unreadable.what(), "unset SEXTANT_MACHINE, or correct it"};
    }
}

Finding cores() {
    const int all = cores_of_host(), available = Cores::available().count();
    return {"cores", State::good,
            available < all
                ? fmt::format("{} of the {} in this machine are available", available, all)
                : fmt::format("{}", all),
            ""};
}

std::vector<Finding> examine(const LaunchedBy& by, int processes, const Call& call) {
    std::vector<Finding> all = {mpi_library(), mpi_launcher(), started_by(by, processes)};
    const bool usable = !mpi_of_build().empty() && all[1].state == State::good;
    if (usable && by.launcher == Launcher::none)
        all.push_back(two_processes(call.own_command()));
    for (const auto& inspect : {cores, simd, shared_memory, huge_pages, profile, volume})
        all.push_back(inspect());
    return all;
}

const char* word(State state) {
    return state == State::good ? "good" : state == State::note ? "note" : "BAD";
}

/// Prints the findings. Returns true if none of them is bad.
bool tell(const std::vector<Finding>& findings, const DoctorCommand& command) {
    bool well = true;
    std::string text;
    Json checks = Json::array();
    for (const Finding& finding : findings) {
        well = well && finding.state != State::bad;
        checks.add({{"what", finding.what},
                    {"state", finding.state == State::bad ? "bad" : word(finding.state)},
                    {"found", finding.found},
                    {"advice", finding.advice}});
        text += fmt::format("{:<5} {:<15} {}\n", word(finding.state), finding.what, finding.found);
        if (!finding.advice.empty())
            text += fmt::format("{:<21} -> {}\n", "", finding.advice);
    }
    const Json json = {{"operation", "doctor"},
                       {"version", version()},
                       {"checks", checks},
                       {"host", host()},
                       {"date", date()}};
    write_reports({command.json, ""}, {}, json.text(), text, "");
    return well;
}

int run_doctor(const DoctorCommand& command, const Call& call) {
    const LaunchedBy by = detect_launcher();
    if (const std::string mismatch = launcher_mismatch(by); !mismatch.empty()) {
        const std::array findings{mpi_library(), mpi_launcher(),
                                  Finding{"this process", State::bad, mismatch, ""}};
        if (by.rank == 0)
            tell({findings.begin(), findings.end()}, command);
        return 1;
    }
    bool well = true;
    launch(1, [&](const Communicator& communicator) {
        agree(communicator, [&] {
            if (communicator.rank() == 0)
                well = tell(examine(by, communicator.size(), call), command);
        });
    });
    return well ? 0 : 1;
}

} // namespace

Operation doctor_operation() {
    return declare_command<DoctorCommand>("doctor",
                                          "check this machine's MPI, shared memory and SIMD",
                                          "  sextant doctor\n"
                                          "  mpirun -n 2 sextant doctor",
                                          run_doctor);
}

} // namespace sextant::command
