// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/calibrate/this_machine.hpp"

#include "sextant/comm/launch.hpp"
#include "sextant/comm/provenance.hpp"
#include "sextant/core/error.hpp"

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hwloc.h>

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

machine::Profile describe_machine(const std::string& transport) {
    machine::Profile profile;
    profile.host = host();
    profile.name = fmt::format("{} {}", profile.host, transport);
    profile.topology = topology_here();
    profile.transport = transport;
    profile.cores = cores_of_host();
    if (transport == "mpi") {
        const std::string mpi = mpi_of_build(); // for example "Open MPI 4.1.4"
        const auto space = mpi.rfind(' ');
        profile.mpi = mpi.substr(0, space);
        profile.mpi_version = space == std::string::npos ? "" : mpi.substr(space + 1);
    }
    profile.origin = {date(), "executor programs timed between two ranks; one launch"};
    return profile;
}

std::vector<Pair> pairs_of(const Communicator& communicator) {
    if (communicator.size() < 2) {
        throw InvalidTask(
            fmt::format("calibration on {} rank: expected two or more ranks", communicator.size()));
    }
    if (communicator.shares_memory())
        return {{machine::Link::same_process, 1}};
    const std::vector<std::string> hosts = all_gather_texts(communicator, host());
    std::vector<Pair> pairs;
    for (const machine::Link link : {machine::Link::same_node, machine::Link::other_node}) {
        const auto other = std::find_if(hosts.begin() + 1, hosts.end(), [&](const auto& name) {
            return (name == hosts[0]) == (link == machine::Link::same_node);
        });
        if (other != hosts.end())
            pairs.push_back({link, static_cast<int>(other - hosts.begin())});
    }
    return pairs;
}

} // namespace sextant::calibrate
