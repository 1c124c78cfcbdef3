// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/simulate/simulator.hpp"

#include "sextant/core/error.hpp"
#include "sextant/machine/installation.hpp"
#include "sextant/simulate/parcel.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sextant::simulate {

namespace {

[[noreturn]] void fail(const char* what) {
    throw Error(fmt::format("cannot start {}: {}: {}", simulator_name, what, std::strerror(errno)));
}

/// What a child process does before it is another program. Only calls that are allowed where other
/// threads of the parent may hold locks.
[[noreturn]] void become(const char* program, int channel, int said, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); // nobody would read what it finds
    if (getppid() != parent)
        _exit(1);
    dup2(channel, STDIN_FILENO); // the copy stays open in the program
    dup2(said, STDOUT_FILENO);
    dup2(said, STDERR_FILENO);
    execl(program, simulator_name, static_cast<char*>(nullptr));
    const char* reason = std::strerror(errno);
    (void)!write(STDERR_FILENO, reason, std::strlen(reason));
    _exit(127);
}

/// A simulator that runs. Ends it, if it has not ended by itself.
class Simulator {
  public:
    explicit Simulator(const std::string& program) : said_(std::tmpfile(), std::fclose) {
        if (!said_)
            fail("temporary file");
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
            fail("socketpair");
        channel_.emplace(ends[0]);
        Channel theirs(ends[1]);
        const pid_t parent = getpid();
        process_ = fork();
        if (process_ < 0)
            fail("fork");
        if (process_ == 0)
            become(program.c_str(), theirs.descriptor(), fileno(said_.get()), parent);
    }
    Simulator(const Simulator&) = delete;
    Simulator& operator=(const Simulator&) = delete;
    ~Simulator() {
        if (process_ > 0) {
            kill(process_, SIGKILL);
            wait();
        }
    }

    Channel& channel() { return *channel_; }

    /// Waits until the program ends, and says how it did.
    std::string ending() {
        const int status = wait();
        const std::string how = WIFSIGNALED(status)
                                    ? fmt::format("signal {}", WTERMSIG(status))
                                    : fmt::format("exit code {}", WEXITSTATUS(status));
        return fmt::format("the simulator ended by {}: {}", how, last_line());
    }

  private:
    int wait() {
        channel_->close();
        int status = 0;
        while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
        }
        process_ = -1;
        return status;
    }

    std::string last_line() const {
        std::rewind(said_.get());
        std::string line, last;
        for (int c = std::fgetc(said_.get()); c != EOF; c = std::fgetc(said_.get())) {
            if (c == '\n')
                last = std::exchange(line, {});
            else
                line += static_cast<char>(c);
        }
        return line.empty() ? last : line;
    }

    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> said_;
    std::optional<Channel> channel_;
    pid_t process_ = -1;
};

} // namespace

std::string simulator_path() {
    for (const std::filesystem::path& folder : machine::installation().programs) {
        const std::string path = folder / simulator_name;
        if (access(path.c_str(), X_OK) == 0)
            return path;
    }
    return "";
}

Simulation ask(const std::string& program, const Question& question) {
    Simulator simulator(program);
    try {
        put_question(simulator.channel(), question);
    } catch (const ChannelClosed&) {
        // It may have said why before it closed the channel.
    }
    try {
        return get_answer(simulator.channel());
    } catch (const ChannelClosed&) {
        throw Error(simulator.ending());
    }
}

} // namespace sextant::simulate
