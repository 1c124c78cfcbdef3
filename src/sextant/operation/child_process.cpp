// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/child_process.hpp"

#include "sextant/core/error.hpp"

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

} // namespace

std::string quoted(const std::string& text) {
    std::string quoted = "'";
    for (const char c : text)
        quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

std::string own_command() {
    return quoted(std::filesystem::read_symlink("/proc/self/exe").string());
}

void run_process(const std::string& command, Seconds patience) {
    Process(command).finish(patience);
}

} // namespace sextant::operation
