// SPDX-License-Identifier: BSD-3-Clause
// The program sextant-simgrid, which Sextant starts for each simulation: reads a question from the
// socket on its standard input, and answers there.

#include "sextant/core/error.hpp"
#include "sextant/core/text.hpp"
#include "sextant/simulate/platform.hpp"
#include "sextant/simulate/shapes.hpp"
#include "sextant/simulate/simgrid/zone.hpp"
#include "sextant/simulate/simulated_ranks.hpp"
#include "sextant/simulate/simulator_process.hpp"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>
#include <sys/resource.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace sextant::simulate {

namespace {

#ifdef __GLIBC__

constexpr int reach = 256 << 20;
constexpr std::uintptr_t large_page = 2 << 20;

std::uintptr_t end_of_heap() {
    return reinterpret_cast<std::uintptr_t>(sbrk(0));
}

/// Allocates memory in pieces until the heap grows. The heap then grows by `reach` bytes at once.
void grow_heap() {
    constexpr std::size_t piece = 64 << 10, most = 64;
    const std::uintptr_t before = end_of_heap();
    std::vector<std::unique_ptr<char[]>> pieces;
    while (end_of_heap() == before && pieces.size() < most)
        pieces.push_back(std::make_unique_for_overwrite<char[]>(piece));
}

/// Requests large pages for the next allocations of this process, up to 256 MiB. For each message
/// that ends, SimGrid searches a list of all messages in progress; the entries of this list are far
/// apart in memory. Affects only speed; does nothing without such pages, or if malloc is not
/// glibc's.
void ask_for_large_pages() {
    const std::uintptr_t before = end_of_heap();
    mallopt(M_TOP_PAD, reach);
    mallopt(M_TRIM_THRESHOLD, 2 * reach);
    grow_heap();
    const std::uintptr_t first = (before + large_page - 1) / large_page * large_page;
    if (const std::uintptr_t last = end_of_heap(); first < last)
        madvise(reinterpret_cast<void*>(first), last - first,
                MADV_HUGEPAGE); // a hint, so failure does not matter
}

#else

void ask_for_large_pages() {}

#endif

namespace s4u = simgrid::s4u;

/// A message in transit; keeps the SimGrid object alive until it arrives.
struct Awaited {
    s4u::CommPtr comm;
    StepOfRank send;
};

/// Runs a SimulatedRun in SimGrid. There are no actors: messages start as activities whose
/// ends are reported by callbacks. Work uses timers, because SimGrid searches all activities in
/// progress for one that ends.
class Simulator {
  public:
    Simulator(const Question& question, std::vector<s4u::Host*> host_of)
        : hosts_(std::move(host_of)),
          processors_(static_cast<std::size_t>(question.schedule.ranks()),
                      {s4u::Engine::get_clock,
                       [this](Seconds time, const TimedWork& timed) {
                           Timer::set(time, [this, timed] { processors_.end(timed); });
                       },
                       [this](int rank, Work work) { play_.worked(rank, work); }}),
          play_(question,
                {s4u::Engine::get_clock,
                 [this](StepOfRank send, int to, Bytes bytes) { this->send(send, to, bytes); },
                 [this](int rank, Work work, Seconds seconds) {
                     processors_.begin(rank, work, seconds);
                 }}) {
        s4u::Activity::on_completion_cb([this](const s4u::Activity& over) { end(over); });
    }

    Simulation run(const s4u::Engine& engine) {
        play_.begin();
        engine.run();
        return play_.finish();
    }

  private:
    using Timer = simgrid::kernel::timer::Timer;

    s4u::Host* host(int rank) const { return hosts_[static_cast<std::size_t>(rank)]; }

    void send(StepOfRank at, int to, Bytes bytes) {
        s4u::CommPtr comm =
            s4u::Comm::sendto_async(host(at.rank), host(to), static_cast<std::uint64_t>(bytes));
        const s4u::Activity* const key = comm.get();
        awaited_.emplace(key, Awaited{std::move(comm), at});
    }

    void end(const s4u::Activity& over) {
        const auto found = awaited_.find(&over);
        if (found == awaited_.end())
            return;
        const Awaited awaited = std::move(found->second);
        awaited_.erase(found);
        play_.arrived(awaited.send);
    }

    const std::vector<s4u::Host*> hosts_;
    std::unordered_map<const s4u::Activity*, Awaited> awaited_; // only looked up, never iterated
    Processors processors_;
    SimulatedRun play_;
};

/// Configures SimGrid to model only link capacity and latency, without additions for TCP or MPI;
/// those costs are part of the question.
void set_up() {
    for (const char* setting :
         {"network/model:CM02", "network/crosstraffic:0", "network/weight-S:0",
          "network/TCP-gamma:0", "network/bandwidth-factor:1", "network/latency-factor:1"})
        s4u::Engine::set_config(setting);
}

/// The number of hosts in an attribute like radical="0-63,70", which begins at `at`.
double hosts_of(const char* at) {
    at = std::strpbrk(at, "\"'");
    double hosts = 0;
    for (bool more = at; more; more = *at == ',') {
        char* end = nullptr;
        const double first = std::strtod(at + 1, &end);
        hosts += *end == '-' ? std::max(std::strtod(end + 1, &end) - first, 0.) + 1 : 1;
        at = end;
    }
    return hosts;
}

/// Refuses a platform that changes settings of SimGrid, which would affect results and may write
/// files: `tracing/filename` names any file. Refuses more hosts than a platform in JSON may have,
/// and limits the memory of this process to that of the machine.
void check_platform(const std::string& path) {
    constexpr Bytes longest = Bytes{64} << 20;
    const std::string text = read_text(path, longest);
    const auto refuse = [&](std::size_t at, const std::string& what) {
        const auto line = 1 + std::count(text.data(), text.data() + at, '\n');
        throw InvalidFile(path, fmt::format("line {} has {}", line, what));
    };
    if (const auto at = text.find("<config"); at != std::string::npos)
        refuse(at, "an element <config>, expected no settings of SimGrid");
    double hosts = 0;
    for (const std::string_view what : {"<host ", "radical"}) {
        for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
            hosts += what == "radical" ? hosts_of(&text[at]) : 1;
            if (!(hosts <= most_hosts))
                refuse(at, fmt::format("host {:.0f}, expected at most {}", hosts, most_hosts));
        }
    }
#ifndef __SANITIZE_ADDRESS__ // which reserves terabytes
    const auto memory = static_cast<rlim_t>(sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE));
    const rlimit limit{memory, memory};
    setrlimit(RLIMIT_AS, &limit);
#endif
}

/// The hosts whose route SimGrid searches for; null while it reads a platform.
const char *route_from = nullptr, *route_to = nullptr;

/// Ends the process with a reason if SimGrid crashes on a platform, for example because a zone has
/// no route at all. If SimGrid aborts while it reads a platform, it has printed a reason itself.
[[noreturn]] void explain_crash(int signal) {
    const char* const reading[] = {"SimGrid crashes while it reads this platform"};
    const char* const route[] = {"SimGrid crashes while it searches for the route from ",
                                 route_from, " to ", route_to,
                                 "; expected routes to all hosts of each zone"};
    for (const char* part : route_from ? std::span<const char* const>(route) : reading) {
        if (route_from || signal == SIGSEGV)
            (void)!write(STDERR_FILENO, part, std::strlen(part));
    }
    _exit(crashed_on_platform);
}

void explain_crashes(bool explain) {
    for (const int each : {SIGSEGV, SIGABRT})
        std::signal(each, explain ? explain_crash : SIG_DFL);
}

/// Places ranks on the hosts of a SimGrid platform, in natural order of their names.
std::vector<s4u::Host*> hosts_of(const s4u::Engine& engine, const Question& question) {
    std::vector<HostSlots> rooms;
    for (const s4u::Host* host : engine.get_all_hosts())
        rooms.push_back({host->get_name(), host->get_core_count()});
    sort_naturally(rooms);
    std::vector<s4u::Host*> hosts;
    for (const int room :
         place(rooms, question.order, question.schedule.ranks(), question.platform))
        hosts.push_back(engine.host_by_name(rooms[static_cast<std::size_t>(room)].host));
    return hosts;
}

/// Refuses a platform that has no route for a message: SimGrid would abort.
void check_routes(const Question& question, const std::vector<s4u::Host*>& host_of) {
    for (std::size_t rank = 0; rank < host_of.size(); ++rank) {
        const Program program = question.schedule.of(static_cast<int>(rank));
        for (const Step& step : program.steps) {
            const auto peer = static_cast<std::size_t>(step.peer);
            if (step.verb != Verb::send || peer >= host_of.size())
                continue;
            const s4u::Host &from = *host_of[rank], &to = *host_of[peer];
            std::vector<s4u::Link*> links;
            double latency = 0;
            route_from = from.get_cname();
            route_to = to.get_cname();
            try {
                from.route_to(&to, links, &latency);
            } catch (const std::exception&) {
                links.clear();
            }
            if (links.empty() && latency <= 0)
                throw InvalidFile(question.platform,
                                  fmt::format("has no route from {} to {}, which exchange messages",
                                              from.get_name(), to.get_name()));
        }
    }
}

Simulation simulate_here(const Question& question, const std::optional<Platform>& platform) {
    std::string name = "sextant", quiet = "--log=root.thres:error";
    char* arguments[] = {name.data(), quiet.data(), nullptr};
    int count = 2;
    ask_for_large_pages();
    s4u::Engine engine(&count, arguments);
    set_up();
    if (platform) {
        const std::vector<int> cores = place_on_cores(platform->network, question.order,
                                                      question.schedule.ranks(), question.platform);
        return Simulator(question, build_world(*platform, cores)).run(engine);
    }
    check_platform(question.platform);
    explain_crashes(true);
    try {
        engine.load_platform(question.platform);
    } catch (const std::exception& error) {
        throw InvalidFile(question.platform, std::string("SimGrid: ") + error.what());
    }
    std::vector<s4u::Host*> hosts = hosts_of(engine, question);
    check_routes(question, hosts);
    explain_crashes(false);
    return Simulator(question, std::move(hosts)).run(engine);
}

Simulation answer(const Question& question) {
    std::optional<Platform> platform;
    if (is_json(question.platform))
        platform = read_platform(question.platform);
    if (platform && platform->wormhole_packet > 0) {
        throw InvalidFile(
            question.platform,
            "has wormhole switching, which SimGrid does not simulate; expected --clock");
    }
    return simulate_here(question, platform);
}

} // namespace

} // namespace sextant::simulate

int main() {
    using namespace sextant::simulate;
    try {
        sextant::Channel channel(STDIN_FILENO);
        put_answer(channel, [&channel] {
            const ArrivedQuestion arrived = get_question(channel);
            return answer(arrived.question);
        });
        _exit(0); // skips the destruction of SimGrid's objects
    } catch (const std::exception& error) {
        std::fprintf(stderr,
                     "%s; this program must be started by Sextant: see sextant simulate --help\n",
                     error.what());
        return 1;
    }
}
