// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/simulate/apart.hpp"

#include "sextant/core/error.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sextant::simulate {

namespace {

/// How the function ended: the first byte of what comes back.
enum Ending : char {
    returned = 'r',
    invalid_task = 't',
    invalid_file = 'f',
    our_bug = 'b',
    failed = 'e'
};

[[noreturn]] void fail(const char* what) {
    throw Error(fmt::format("cannot start a simulation: {}: {}", what, std::strerror(errno)));
}

/// An end of a pipe.
class Descriptor {
  public:
    explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() { close(); }
    int get() const { return descriptor_; }
    void close() {
        if (descriptor_ >= 0)
            ::close(descriptor_);
        descriptor_ = -1;
    }

  private:
    int descriptor_;
};

/// Everything up to the end.
std::string read_all(int descriptor) {
    std::string all;
    char piece[1 << 16];
    while (true) {
        const ssize_t count = read(descriptor, piece, sizeof piece);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return all;
        all.append(piece, static_cast<std::size_t>(count));
    }
}

void write_all(int descriptor, const std::string& bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
        const ssize_t count = write(descriptor, bytes.data() + at, bytes.size() - at);
        if (count < 0 && errno != EINTR)
            return; // nobody reads any more
        at += count > 0 ? static_cast<std::size_t>(count) : 0;
    }
}

std::string marked(Ending ending, std::string_view text) {
    std::string bytes(1, ending);
    return bytes.append(text);
}

std::string outcome(const std::function<std::string()>& function) {
    try {
        return marked(returned, function());
    } catch (const InvalidFile& error) {
        const std::string_view what =
            std::string_view(error.what()).substr(error.path().size() + 2);
        return marked(invalid_file, error.path() + '\n').append(what);
    } catch (const InvalidTask& error) {
        return marked(invalid_task, error.what());
    } catch (const std::logic_error& error) {
        return marked(our_bug, error.what());
    } catch (const std::exception& error) {
        return marked(failed, error.what());
    }
}

std::string last_line(std::FILE* file) {
    std::rewind(file);
    std::string all = read_all(fileno(file));
    while (!all.empty() && all.back() == '\n')
        all.pop_back();
    return all.substr(all.rfind('\n') + 1);
}

int wait_for(pid_t process) {
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

std::string result_of(const std::string& bytes, int status, std::FILE* said) {
    if (bytes.empty()) {
        const std::string how = WIFSIGNALED(status)
                                    ? fmt::format("signal {}", WTERMSIG(status))
                                    : fmt::format("exit code {}", WEXITSTATUS(status));
        throw Error(fmt::format("the simulator ended by {}: {}", how, last_line(said)));
    }
    const std::string rest = bytes.substr(1);
    switch (static_cast<Ending>(bytes[0])) {
    case returned:
        return rest;
    case invalid_task:
        throw InvalidTask(rest);
    case invalid_file:
        throw InvalidFile(rest.substr(0, rest.find('\n')), rest.substr(rest.find('\n') + 1));
    case our_bug:
        throw std::logic_error(rest);
    case failed:
        break;
    }
    throw Error(rest);
}

} // namespace

std::string apart(const std::function<std::string()>& function) {
    int ends[2];
    if (pipe(ends) != 0)
        fail("pipe");
    Descriptor from(ends[0]), to(ends[1]);
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> said(std::tmpfile(), std::fclose);
    if (!said)
        fail("temporary file");
    std::fflush(nullptr); // or both would write what is buffered
    const pid_t parent = getpid(), process = fork();
    if (process < 0)
        fail("fork");
    if (process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); // nobody would read what it finds
        if (getppid() != parent)
            _exit(1);
        dup2(fileno(said.get()), STDERR_FILENO);
        write_all(to.get(), outcome(function));
        _exit(0);
    }
    to.close();
    const std::string bytes = read_all(from.get());
    return result_of(bytes, wait_for(process), said.get());
}

} // namespace sextant::simulate
