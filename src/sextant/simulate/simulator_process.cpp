// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/simulate/simulator_process.hpp"

#include "sextant/core/error.hpp"
#include "sextant/machine/installation.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sextant::simulate {

namespace {

/// The outcome of a simulation.
enum class Ending : char { returned, invalid_task, invalid_file, our_bug, failed };

/// Identifies the protocol. Values are sent as they are in memory, so both processes must be built
/// from the same declarations.
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
                       costs.copy_seconds_per_byte, costs.pack_seconds_per_byte,
                       costs.waits_while_sending ? 1. : 0.});
    to.put(costs.seconds_per_computed_element);
}

Costs get_costs(Channel& from) {
    const std::vector<double> values = from.get_vector<double>();
    return {values.at(0), values.at(1),      values.at(2),
            values.at(3), values.at(4),      values.at(5),
            values.at(6), values.at(7) != 0, from.get_vector<double>()};
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
    to.put(question.schedule.ranks());
    for (int rank = 0; rank < question.schedule.ranks(); ++rank)
        put_program(to, question.schedule.of(rank));
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
        throw Error(
            fmt::format("sextant-simgrid is '{}', expected '{}', the version that started it",
                        protocol(), theirs));
    auto schedule = std::make_unique<Schedule>(static_cast<std::size_t>(from.get<int>()));
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

std::FILE* temporary_file() {
    std::FILE* const file = std::tmpfile();
    if (!file)
        throw std::system_error(errno, std::generic_category(), "temporary file");
    return file;
}

/// Runs in the child process before exec. Uses only async-signal-safe calls, since other threads of
/// the parent may hold locks.
void become(const char* program, int channel, int said) {
    dup2(channel, STDIN_FILENO); // the copy stays open in the program
    dup2(said, STDOUT_FILENO);
    dup2(said, STDERR_FILENO);
    execl(program, simulator_name, static_cast<char*>(nullptr));
    const char* reason = std::strerror(errno);
    (void)!write(STDERR_FILENO, reason, std::strlen(reason));
}

/// A running simulator. It is killed on destruction if it has not ended.
class Simulator {
  public:
    explicit Simulator(const std::string& program) try
        : said_(temporary_file(), std::fclose),
          channel_(connected_channel()),
          process_(SIGKILL, [&] { // when this object is destroyed, the result is not read
              become(program.c_str(), channel_.theirs.descriptor(), fileno(said_.get()));
          }) {
        channel_.theirs.close();
    } catch (const std::system_error& error) {
        throw Error(fmt::format("cannot start {}: {}", simulator_name, error.what()));
    }

    Channel& channel() { return channel_.ours; }

    /// Waits until the program ends, and throws how it ended.
    [[noreturn]] void report_ending(const std::string& platform) {
        channel_.ours.close();
        process_.wait();
        const int status = process_.status();
        const std::string how = WIFSIGNALED(status)
                                    ? fmt::format("signal {}", WTERMSIG(status))
                                    : fmt::format("exit code {}", WEXITSTATUS(status));
        if (WIFEXITED(status) && WEXITSTATUS(status) == crashed_on_platform)
            throw InvalidFile(platform, last_line());
        throw Error(fmt::format("the simulator ended with {}: {}", how, last_line()));
    }

  private:
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
    ChannelEnds channel_;
    ChildProcess process_;
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
        // The simulator may have sent an error before it closed the channel.
    }
    try {
        return get_answer(simulator.channel());
    } catch (const ChannelClosed&) {
        simulator.report_ending(question.platform);
    }
}

} // namespace sextant::simulate
