// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/schedules/placement.hpp"

#include "sextant/calibrate/planner_here.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/core/error.hpp"
#include "sextant/machine/installation.hpp"
#include "sextant/machine/profile_file.hpp"
#include "sextant/simulate/platform.hpp"

#include <array>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

namespace sextant::command {

Record record_of(PlacementOptions& options) {
    Record record;
    record
        .add("transport", options.transport, "HOW",
             "transport; default: that of the given machine, else mpi")
        .one_of({"mpi", "threads"});
    record
        .add("ranks_per_node", options.ranks_per_node, "N",
             "number of ranks on each node, for mpi; default: 1")
        .between(1, 65536);
    record
        .add("machine", options.machine, "FILE",
             "profile or platform: a file or an installed name; default: this machine")
        .file();
    return record;
}

namespace {

Placement on_platform(const PlacementOptions& options, int ranks) {
    const char* refused = !options.transport.empty() ? "transport"
                          : options.ranks_per_node   ? "ranks-per-node"
                                                     : nullptr;
    if (refused)
        throw InvalidTask(fmt::format(
            "--{} cannot be used with --machine {}: the platform specifies where ranks run",
            refused, options.machine));
    KnownMachine known = known_machine(options.machine, ranks);
    Placement placement;
    placement.nodes = std::move(known.nodes);
    placement.planner =
        std::make_shared<planner::Planner>(std::move(known.profile), std::move(known.wires));
    return placement;
}

std::shared_ptr<planner::Planner> usual(const PlacementOptions& options, int ranks) {
    const std::string file = options.machine.empty() ? "" : machine_file(options.machine);
    const planner::DefaultPlanner usual =
        calibrate::planner_of(options.transport.empty() ? "mpi" : options.transport, ranks, file);
    print_warnings(usual.warnings);
    const std::string threads = machine::default_profile_path("threads");
    std::error_code missing;
    if (options.transport.empty() && usual.planner->machine().name == machine::built_in().name &&
        !threads.empty() && std::filesystem::exists(threads, missing)) {
        print_note(fmt::format(
            "planned for MPI processes, for which this machine has no profile: use --transport "
            "threads to plan with {}, or measure MPI with mpirun -n 2 sextant calibrate",
            threads));
    }
    return usual.planner;
}

} // namespace

Placement placement_of(const PlacementOptions& options, int ranks) {
    if (!options.machine.empty() && is_platform(options.machine))
        return on_platform(options, ranks);
    Placement placement;
    placement.planner = usual(options, ranks);
    const bool threads = options.transport == "threads" ||
                         (options.transport.empty() && placement.machine().transport == "threads");
    if (threads)
        placement.within_node = machine::Link::same_process;
    if (threads && options.ranks_per_node)
        throw InvalidTask(
            fmt::format("--ranks-per-node {}: {} was measured with threads, which run on one node",
                        *options.ranks_per_node, placement.machine().name));
    if (!threads && !options.ranks_per_node)
        return placement;
    const int each = threads ? ranks : static_cast<int>(*options.ranks_per_node);
    for (int rank = 0; rank < ranks; ++rank)
        placement.nodes.push_back(rank / each);
    return placement;
}

namespace {

constexpr std::array<std::string_view, 1> endings{".json"};
/// The installed platforms, except those in SimGrid's format, whose links only SimGrid can read.
constexpr machine::SharedFolder platforms{simulate::platforms.kind, simulate::platforms.path,
                                          endings};

} // namespace

std::string machine_file(const std::string& given) {
    constexpr std::array folders{machine::machines, platforms};
    return machine::shared_file(folders, given);
}

bool is_platform(const std::string& given) {
    return simulate::is_platform(machine_file(given));
}

KnownMachine known_machine(const std::string& given, int ranks) {
    const std::string file = machine_file(given);
    if (!simulate::is_platform(file))
        return {machine::read_profile(file), {}, {}};
    const simulate::Platform platform = simulate::read_platform(file);
    const std::vector<int> cores = simulate::place_on_cores(platform.network, {}, ranks, file);
    KnownMachine known{simulate::profile_of(platform), simulate::wires_of(platform, cores), {}};
    for (const int core : cores)
        known.nodes.push_back(core / platform.network.cores);
    return known;
}

} // namespace sextant::command
