// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/calibrate/this_machine.hpp"

#include "sextant/comm/launch.hpp"
#include "sextant/core/error.hpp"

#include <array>
#include <ctime>
#include <memory>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hwloc.h>
#include <unistd.h>

namespace sextant::calibrate {

namespace {

struct Destroy {
    void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, Destroy>;

/// Loads only the parts of the topology that are reported; does not scan the PCI bus.
Topology load() {
    hwloc_topology_t made = nullptr;
    if (hwloc_topology_init(&made) != 0)
        return nullptr;
    Topology topology(made);
    hwloc_topology_set_io_types_filter(made, HWLOC_TYPE_FILTER_KEEP_NONE);
    return hwloc_topology_load(made) == 0 ? std::move(topology) : nullptr;
}

std::string counted(int number, std::string_view thing) {
    return fmt::format("{} {}{}", number, thing, number == 1 ? "" : "s");
}

std::string describe(hwloc_topology_t topology) {
    std::vector<std::string> parts;
    const auto count = [&](hwloc_obj_type_t type, std::string_view thing) {
        const int number = hwloc_get_nbobjs_by_type(topology, type);
        if (number > 0)
            parts.push_back(counted(number, thing));
        return number > 0;
    };
    count(HWLOC_OBJ_PACKAGE, "package");
    count(HWLOC_OBJ_CORE, "core");
    count(HWLOC_OBJ_NUMANODE, "NUMA node");
    if (count(HWLOC_OBJ_L3CACHE, "L3 cache")) {
        const hwloc_obj_t cache = hwloc_get_obj_by_type(topology, HWLOC_OBJ_L3CACHE, 0);
        parts.back() += fmt::format(" of {} MiB", cache->attr->cache.size >> 20);
    }
    const hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
    const hwloc_obj_t named = package ? package : hwloc_get_root_obj(topology);
    if (const char* processor = hwloc_obj_get_info_by_name(named, "CPUModel"))
        parts.emplace_back(processor);
    return fmt::format("{}", fmt::join(parts, ", "));
}

} // namespace

const std::string& topology_here() {
    static const std::string text = [] {
        const Topology topology = load();
        return topology ? describe(topology.get()) : std::string();
    }();
    return text;
}

namespace {

using HostName = std::array<char, 256>;

HostName host_name() {
    HostName name{};
    gethostname(name.data(), name.size() - 1);
    return name;
}

std::string now() {
    const std::time_t seconds = std::time(nullptr);
    std::tm utc{};
    gmtime_r(&seconds, &utc);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
    return text.data();
}

} // namespace

machine::Profile describe_machine(const std::string& transport) {
    machine::Profile profile;
    profile.host = host_name().data();
    profile.name = fmt::format("{} {}", profile.host, transport);
    profile.topology = topology_here();
    profile.transport = transport;
    profile.cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    if (transport == "mpi") {
        const std::string mpi = mpi_of_build(); // for example "Open MPI 4.1.4"
        const auto space = mpi.rfind(' ');
        profile.mpi = mpi.substr(0, space);
        profile.mpi_version = space == std::string::npos ? "" : mpi.substr(space + 1);
    }
    profile.origin = {now(), "executor programs timed between two ranks; one launch"};
    return profile;
}

std::vector<Pair> pairs_of(const Communicator& communicator) {
    if (communicator.size() < 2) {
        throw InvalidTask(
            fmt::format("calibration on {} rank: expected two or more ranks", communicator.size()));
    }
    if (communicator.shares_memory())
        return {{machine::Link::same_process, 1}};
    const std::vector<HostName> hosts = communicator.all_gather(host_name());
    std::vector<Pair> pairs;
    for (const bool same : {true, false}) {
        for (int rank = 1; rank < communicator.size(); ++rank) {
            if ((hosts[static_cast<std::size_t>(rank)] == hosts[0]) != same)
                continue;
            pairs.push_back({same ? machine::Link::same_node : machine::Link::other_node, rank});
            break;
        }
    }
    return pairs;
}

} // namespace sextant::calibrate
