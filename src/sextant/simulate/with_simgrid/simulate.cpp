// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/simulate/simulate.hpp"

#include "sextant/core/error.hpp"
#include "sextant/simulate/apart.hpp"
#include "sextant/simulate/placement.hpp"
#include "sextant/simulate/play.hpp"
#include "sextant/simulate/with_simgrid/parcel.hpp"
#include "sextant/simulate/with_simgrid/zone.hpp"

#include <filesystem>
#include <optional>
#include <unordered_map>

#include <simgrid/s4u.hpp>

namespace sextant::simulate {

namespace {

namespace s4u = simgrid::s4u;

/// Handing over a message interrupts a fold: it takes most of the processor that they share.
constexpr double priority_of_messages = 1e6;

/// What comes next when an activity ends. Its owner keeps it alive until then.
struct Awaited {
    s4u::ActivityPtr activity;
    StepOfRank at; ///< a message, by its send; or a rank, with the kind of its work as the step
    bool is_message = false;
};

/// A play in SimGrid's world. No actors: activities start and end, and their ends are called back.
class Simulator {
  public:
    Simulator(const Question& question, std::vector<s4u::Host*> host_of)
        : hosts_(std::move(host_of)),
          play_(
              question,
              {[] { return s4u::Engine::get_clock(); },
               [this](StepOfRank send, int to, Bytes bytes) { this->send(send, to, bytes); },
               [this](int rank, Work work, Seconds seconds) { this->work(rank, work, seconds); }}) {
        s4u::Activity::on_completion_cb([this](const s4u::Activity& over) { end(over); });
    }

    Simulation run(const s4u::Engine& engine) {
        play_.begin();
        engine.run();
        return play_.finish();
    }

  private:
    s4u::Host* host(int rank) const { return hosts_[static_cast<std::size_t>(rank)]; }

    void send(StepOfRank at, int to, Bytes bytes) {
        await(s4u::Comm::sendto_async(host(at.rank), host(to), static_cast<std::uint64_t>(bytes)),
              {nullptr, at, true});
    }

    void work(int rank, Work work, Seconds seconds) {
        s4u::Host* const where = host(rank);
        s4u::ExecPtr exec = s4u::Exec::init();
        exec->set_host(where)->set_flops_amount(seconds * where->get_speed());
        if (work == Work::message)
            exec->set_priority(priority_of_messages);
        await(exec, {nullptr, {rank, static_cast<int>(work)}, false});
        exec->start();
    }

    void await(const s4u::ActivityPtr& activity, Awaited awaited) {
        awaited.activity = activity;
        awaited_.emplace(activity.get(), std::move(awaited));
    }

    void end(const s4u::Activity& over) {
        const auto found = awaited_.find(&over);
        if (found == awaited_.end())
            return;
        const Awaited awaited = std::move(found->second);
        awaited_.erase(found);
        if (awaited.is_message)
            play_.arrived(awaited.at);
        else
            play_.worked(awaited.at.rank, static_cast<Work>(awaited.at.step));
    }

    const std::vector<s4u::Host*> hosts_;
    std::unordered_map<const s4u::Activity*, Awaited> awaited_; // looked up, never gone through
    Play play_;
};

/// Of the network a share of capacity and a latency, and nothing that TCP or MPI would add: what
/// they cost is the question's.
void set_up() {
    for (const char* setting :
         {"network/model:CM02", "network/crosstraffic:0", "network/weight-S:0",
          "network/TCP-gamma:0", "network/bandwidth-factor:1", "network/latency-factor:1"})
        s4u::Engine::set_config(setting);
}

/// The hosts to place ranks on; the platform's own order where it is ours, else by number.
std::vector<Room> rooms_of(const s4u::Engine& engine, const std::optional<Platform>& platform) {
    std::vector<Room> rooms;
    if (platform) {
        for (const std::string& host : platform->network.hosts)
            rooms.push_back({host, platform->network.cores});
        return rooms;
    }
    for (const s4u::Host* host : engine.get_all_hosts())
        rooms.push_back({host->get_name(), host->get_core_count()});
    sort_naturally(rooms);
    return rooms;
}

Simulation simulate_here(const Question& question, const std::optional<Platform>& platform) {
    std::string name = "sextant", quiet = "--log=root.thres:error";
    char* arguments[] = {name.data(), quiet.data(), nullptr};
    int count = 2;
    s4u::Engine engine(&count, arguments);
    set_up();
    if (platform) {
        build_world(*platform);
    } else {
        try {
            engine.load_platform(question.platform);
        } catch (const std::exception& error) {
            throw InvalidFile(question.platform, std::string("SimGrid: ") + error.what());
        }
    }
    const std::vector<Room> rooms = rooms_of(engine, platform);
    const auto ranks = static_cast<int>(question.schedule.size());
    std::vector<s4u::Host*> host_of;
    for (const int room : place(rooms, question.order, ranks, question.platform))
        host_of.push_back(engine.host_by_name(rooms[static_cast<std::size_t>(room)].host));
    return Simulator(question, std::move(host_of)).run(engine);
}

} // namespace

bool available() {
    return true;
}

Simulation simulate(const Question& question) {
    if (std::error_code error; !std::filesystem::is_regular_file(question.platform, error))
        throw InvalidFile(question.platform, "is no file");
    std::optional<Platform> platform;
    if (is_json(question.platform))
        platform = read_platform(question.platform);
    return unpack(apart([&] { return pack(simulate_here(question, platform)); }));
}

} // namespace sextant::simulate
