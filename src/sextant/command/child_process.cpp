// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/child_process.hpp"

#include "sextant/core/error.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sextant::command {

namespace {

using Clock = std::chrono::steady_clock;

Seconds since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// A child process that runs a shell command. Its output is discarded; it shares standard error.
class Process {
  public:
    explicit Process(const std::string& command) : command_(command) {
        const std::string line = "exec " + command;
        const pid_t parent = getpid();
        id_ = fork();
        if (id_ == 0)
            become(line.c_str(), parent);
        if (id_ < 0)
            throw Error(fmt::format("{}: {}", command, std::strerror(errno)));
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

    /// Waits. Throws unless the process ends in time with exit code 0.
    void finish(Seconds patience) {
        if (!ended_within(patience))
            throw Error(fmt::format("{}: did not end within {:.0f} s", command_, patience));
        if (WIFSIGNALED(status_))
            throw Error(fmt::format("{}: ended by signal {}", command_, WTERMSIG(status_)));
        if (WEXITSTATUS(status_) != 0)
            throw Error(fmt::format("{}: exit code {}", command_, WEXITSTATUS(status_)));
    }

  private:
    /// Runs in the forked child: only calls that are safe in a signal handler.
    [[noreturn]] static void become(const char* line, pid_t parent) {
        prctl(PR_SET_PDEATHSIG, SIGTERM); // the child ends with its parent
        const int nothing = open("/dev/null", O_RDWR);
        if (getppid() == parent && dup2(nothing, STDIN_FILENO) >= 0 &&
            dup2(nothing, STDOUT_FILENO) >= 0)
            execl("/bin/sh", "sh", "-c", line, nullptr);
        _exit(127);
    }

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

} // namespace sextant::command
