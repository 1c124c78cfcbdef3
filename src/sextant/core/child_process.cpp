// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/child_process.hpp"

#include "sextant/core/run_control.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sextant {

namespace {

[[noreturn]] void fail() {
    if (errno == EPIPE || errno == ECONNRESET)
        throw ChannelClosed();
    throw Error("communication with another process failed: " +
                std::generic_category().message(errno));
}

} // namespace

void Channel::close() {
    if (descriptor_ >= 0)
        ::close(descriptor_);
    descriptor_ = -1;
}

void Channel::write(const void* bytes, std::size_t count) {
    const auto* next = static_cast<const char*>(bytes);
    while (count > 0) {
        const ssize_t sent = send(descriptor_, next, count, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            fail();
        next += sent;
        count -= static_cast<std::size_t>(sent);
    }
}

void Channel::read(void* bytes, std::size_t count) {
    auto* next = static_cast<char*>(bytes);
    while (count > 0) {
        const ssize_t received = recv(descriptor_, next, count, MSG_DONTWAIT);
        if (received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            constexpr int between_checks = 50; // ms
            pollfd waiting{descriptor_, POLLIN, 0};
            poll(&waiting, 1, between_checks);
            check_cancelled(much_work);
            continue;
        }
        if (received < 0 && errno == EINTR)
            continue;
        if (received < 0)
            fail();
        if (received == 0)
            throw ChannelClosed();
        next += received;
        count -= static_cast<std::size_t>(received);
    }
}

ChannelEnds connected_channel() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        throw std::system_error(errno, std::generic_category(), "socketpair");
    return {Channel(ends[0]), Channel(ends[1])};
}

ChildProcess::ChildProcess(int signal_at_end_of_parent, const std::function<void()>& body) {
    const pid_t parent = getpid();
    id_ = fork();
    if (id_ < 0)
        throw std::system_error(errno, std::generic_category(), "fork");
    if (id_ > 0)
        return;
    prctl(PR_SET_PDEATHSIG, signal_at_end_of_parent);
    // Only the parent checks for cancellation: the check may call an interpreter, whose locks other
    // threads may have held at the fork.
    cancellation_here() = {};
    try {
        if (getppid() == parent) // otherwise the parent has already ended
            body();
    } catch (...) { // the child must not return to its parent's code
    }
    _exit(127);
}

void ChildProcess::wait() {
    while (waitpid(id_, &status_, 0) < 0 && errno == EINTR) {
    }
    id_ = 0;
}

bool ChildProcess::ended_within(Seconds patience) {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    const auto elapsed = [begin] { return std::chrono::duration<double>(Clock::now() - begin); };
    do {
        const pid_t ended = waitpid(id_, &status_, WNOHANG);
        if (ended == id_ || (ended < 0 && errno != EINTR)) {
            id_ = 0;
            return true;
        }
        constexpr std::chrono::duration<double> longest(5e-3), shortest(1e-4);
        std::this_thread::sleep_for(std::clamp(elapsed() / 100, shortest, longest));
    } while (elapsed().count() < patience);
    return false;
}

void ChildProcess::end(Seconds grace) {
    if (id_ <= 0)
        return;
    if (grace > 0) {
        kill(id_, SIGTERM);
        if (ended_within(grace))
            return;
    }
    kill(id_, SIGKILL);
    wait();
}

std::string shell_quoted(const std::string& text) {
    std::string quoted = "'";
    for (const char c : text)
        quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

std::string own_command() {
    return shell_quoted(std::filesystem::read_symlink("/proc/self/exe").string());
}

void run_process(const std::string& command, Seconds patience) {
    const std::string line = "exec " + command;
    std::optional<ChildProcess> child;
    try {
        child.emplace(SIGTERM, [&line] {
            const int nothing = open("/dev/null", O_RDWR);
            if (dup2(nothing, STDIN_FILENO) >= 0 && dup2(nothing, STDOUT_FILENO) >= 0)
                execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
        });
    } catch (const std::system_error& error) {
        throw Error(fmt::format("{}: {}", command, error.code().message()));
    }
    if (!child->ended_within(patience)) {
        child->end(5); // gives a launcher 5 s to terminate its processes
        throw Error(fmt::format("{}: did not exit within {:.0f} s", command, patience));
    }
    const int status = child->status();
    if (WIFSIGNALED(status))
        throw Error(fmt::format("{}: killed by signal {}", command, WTERMSIG(status)));
    if (WEXITSTATUS(status) != 0)
        throw Error(fmt::format("{}: exit code {}", command, WEXITSTATUS(status)));
}

} // namespace sextant
