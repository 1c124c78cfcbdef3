// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/simulate/simulator_process.hpp"

#include "sextant/core/error.hpp"
#include "sextant/machine/installation.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sextant::simulate {

namespace {

[[noreturn]] void fail() {
    if (errno == EPIPE || errno == ECONNRESET)
        throw ChannelClosed();
    throw Error("a simulation's channel: " + std::generic_category().message(errno));
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
        const ssize_t received = recv(descriptor_, next, count, 0);
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

namespace {

/// The outcome of a simulation.
enum class Ending : char { returned, invalid_task, invalid_file, our_bug, failed };

/// Values are sent as they are in memory, so both processes must be built from the same
/// declarations.
std::string protocol() {
    return fmt::format("sextant {}: {} {} {} {} {}", SEXTANT_VERSION, sizeof(Step), sizeof(Region),
                       sizeof(BufferSpec), sizeof(Event), sizeof(Seconds));
}

void put_program(Channel& to, const Program& program) {
    to.put(program.buffers);
    to.put(program.steps);
    to.put(program.regions);
    to.put(program.window);
    to.put(program.result);
}

Program get_program(Channel& from) {
    Program program;
    program.buffers = from.get_vector<BufferSpec>();
    program.steps = from.get_vector<Step>();
    program.regions = from.get_vector<Region>();
    program.window = from.get<int>();
    program.result = from.get<Region>();
    return program;
}

void put_costs(Channel& to, const Costs& costs) {
    to.put(std::vector{costs.send_overhead, costs.receive_overhead, costs.send_seconds_per_byte,
                       costs.receive_seconds_per_byte, costs.seconds_per_application,
                       costs.copy_seconds_per_byte});
    to.put(costs.seconds_per_computed_element);
}

Costs get_costs(Channel& from) {
    const std::vector<double> values = from.get_vector<double>();
    return {values.at(0),
            values.at(1),
            values.at(2),
            values.at(3),
            values.at(4),
            values.at(5),
            from.get_vector<double>()};
}

void put_order(Channel& to, const std::vector<OrderedHost>& order) {
    to.put(order.size());
    for (const OrderedHost& host : order) {
        to.put(host.name);
        to.put(host.named_by);
    }
}

std::vector<OrderedHost> get_order(Channel& from) {
    std::vector<OrderedHost> order(from.get<std::size_t>());
    for (OrderedHost& host : order) {
        host.name = from.get_text();
        host.named_by = from.get_text();
    }
    return order;
}

void put_failure(Channel& to, Ending ending, std::string_view path, std::string_view what) {
    to.put(ending);
    to.put(std::string(path));
    to.put(std::string(what));
}

[[noreturn]] void rethrow(Ending ending, const std::string& path, const std::string& what) {
    switch (ending) {
    case Ending::invalid_task:
        throw InvalidTask(what);
    case Ending::invalid_file:
        throw InvalidFile(path, what);
    case Ending::our_bug:
        throw std::logic_error(what);
    case Ending::returned:
    case Ending::failed:
        break;
    }
    throw Error(what);
}

} // namespace

void put_question(Channel& to, const Question& question) {
    to.put(protocol());
    to.put(question.schedule.size());
    for (const Program& program : question.schedule)
        put_program(to, program);
    to.put(question.platform);
    put_order(to, question.order);
    to.put(question.element_size);
    to.put(question.density);
    to.put(question.active_by_round);
    put_costs(to, question.costs);
    to.put(question.association);
    to.put(question.timeline);
}

ArrivedQuestion get_question(Channel& from) {
    if (const std::string theirs = from.get_text(); theirs != protocol())
        throw Error(fmt::format("sextant-simgrid is of '{}', expected '{}', as what started it",
                                protocol(), theirs));
    auto schedule = std::make_unique<Schedule>(from.get<std::size_t>());
    for (Program& program : *schedule)
        program = get_program(from);
    Question question{.schedule = *schedule, .platform = from.get_text()};
    question.order = get_order(from);
    question.element_size = from.get<Bytes>();
    question.density = from.get<double>();
    question.active_by_round = from.get_vector<double>();
    question.costs = get_costs(from);
    question.association = from.get<Association>();
    question.timeline = from.get<bool>();
    return {std::move(schedule), std::move(question)};
}

void put_answer(Channel& to, const std::function<Simulation()>& simulation) {
    Simulation found;
    try {
        found = simulation();
    } catch (const InvalidFile& error) {
        const std::string_view what = error.what();
        return put_failure(to, Ending::invalid_file, error.path(),
                           what.substr(error.path().size() + 2));
    } catch (const InvalidTask& error) {
        return put_failure(to, Ending::invalid_task, "", error.what());
    } catch (const std::logic_error& error) {
        return put_failure(to, Ending::our_bug, "", error.what());
    } catch (const std::exception& error) {
        return put_failure(to, Ending::failed, "", error.what());
    }
    to.put(Ending::returned);
    to.put(found.seconds);
    to.put(found.finished);
    to.put(found.timeline.events);
    to.put(found.timeline.duration);
}

Simulation get_answer(Channel& from) {
    if (const auto ending = from.get<Ending>(); ending != Ending::returned) {
        const std::string path = from.get_text();
        rethrow(ending, path, from.get_text());
    }
    Simulation simulation;
    simulation.seconds = from.get<Seconds>();
    simulation.finished = from.get_vector<Seconds>();
    simulation.timeline.events = from.get_vector<Event>();
    simulation.timeline.duration = from.get<Seconds>();
    return simulation;
}

namespace {

[[noreturn]] void fail(const char* what) {
    throw Error(fmt::format("cannot start {}: {}: {}", simulator_name, what, std::strerror(errno)));
}

/// Runs in the child process before exec. Uses only async-signal-safe calls, since other threads of
/// the parent may hold locks.
[[noreturn]] void become(const char* program, int channel, int said, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); // the result would have no reader
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

/// A running simulator. Terminates it on destruction if it has not ended.
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

    /// Waits until the program ends, and describes how it ended.
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
        // It may have sent an error before it closed the channel.
    }
    try {
        return get_answer(simulator.channel());
    } catch (const ChannelClosed&) {
        throw Error(simulator.ending());
    }
}

} // namespace sextant::simulate
