// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/calibrate_launches.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace sextant::operation {

namespace {

using Clock = std::chrono::steady_clock;

Seconds since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// As the shell takes it for one word.
std::string quoted(const std::string& text) {
    std::string quoted = "'";
    for (const char c : text)
        quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

/// A shell command as a process of its own, whose output nobody reads; errors go where ours go.
class Process {
  public:
    explicit Process(const std::string& command) : command_(command) {
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        const std::string line = "exec " + command;
        const char* const words[] = {"sh", "-c", line.c_str(), nullptr};
        const int error =
            posix_spawn(&id_, "/bin/sh", &actions, nullptr, const_cast<char**>(words), environ);
        posix_spawn_file_actions_destroy(&actions);
        if (error != 0)
            throw Error(fmt::format("{}: {}", command, std::strerror(error)));
    }
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;
    ~Process() {
        if (id_ <= 0)
            return;
        kill(id_, SIGTERM); // a launcher then ends what it started
        if (!ended_within(5)) {
            kill(id_, SIGKILL);
            waitpid(id_, nullptr, 0);
        }
    }

    /// Throws unless it ends well within the time.
    void finish(Seconds patience) {
        if (!ended_within(patience))
            throw Error(fmt::format("{}: did not end within {:.0f} s", command_, patience));
        if (WIFSIGNALED(status_))
            throw Error(fmt::format("{}: ended by signal {}", command_, WTERMSIG(status_)));
        if (WEXITSTATUS(status_) != 0)
            throw Error(fmt::format("{}: exit code {}", command_, WEXITSTATUS(status_)));
    }

  private:
    bool ended_within(Seconds patience) {
        const auto begin = Clock::now();
        do {
            const pid_t ended = waitpid(id_, &status_, WNOHANG);
            if (ended == id_ || (ended < 0 && errno != EINTR)) {
                id_ = 0;
                return true;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        } while (since(begin) < patience);
        return false;
    }

    const std::string command_;
    pid_t id_ = 0;
    int status_ = 0;
};

std::string command_of(const Launches& launches, Seconds budget) {
    std::string command = launches.launcher.empty() ? "" : launches.launcher + " ";
    command += quoted(std::filesystem::read_symlink("/proc/self/exe").string());
    command += fmt::format(" calibrate --launches 1 --append --budget {:.0f}ms -o {}",
                           std::max(1.0, budget * 1e3), quoted(launches.file));
    for (const std::string& option : launches.options)
        command += " " + quoted(option);
    return command;
}

} // namespace

void run_launches(const Launches& launches) {
    constexpr Seconds grace = 120; // for a launcher on a machine that is busy
    const auto begin = Clock::now();
    // Until the first has ended: what it takes to start one, and to end the last burst.
    Seconds starting = launches.launcher.empty() ? .1 : .6;
    for (int k = 0; k < launches.count; ++k) {
        const Seconds part = (launches.budget - since(begin)) / (launches.count - k);
        const Seconds own = std::max(0.0, part - starting);
        const auto launched = Clock::now();
        Process(command_of(launches, own)).finish(2 * part + grace);
        starting = std::max(0.0, since(launched) - own);
    }
}

} // namespace sextant::operation
