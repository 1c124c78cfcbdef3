// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/calibrate/topology_here.hpp"

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

/// Only what is told below is looked for: no PCI bus is scanned.
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

} // namespace sextant::calibrate
