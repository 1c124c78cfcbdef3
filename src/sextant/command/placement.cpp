// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/placement.hpp"

#include "sextant/calibrate/planner_here.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/core/error.hpp"
#include "sextant/machine/installation.hpp"
#include "sextant/machine/profile_file.hpp"
#include "sextant/simulate/platform.hpp"

#include <array>
#include <cstdio>

#include <fmt/format.h>

namespace sextant::command {

std::vector<Parameter> placement_parameters() {
    return {{.name = "transport",
             .type = Type::choice,
             .value = "HOW",
             .help = "processes, or threads of one; default: the profile's",
             .choices = {"mpi", "threads"}},
            {.name = "ranks-per-node",
             .type = Type::integer,
             .value = "N",
             .help = "of mpi; default: each rank on a node of its own",
             .least = 1,
             .most = 16384},
            {.name = "machine",
             .type = Type::file,
             .value = "FILE",
             .help = "a profile, or a platform; default: this machine's, or a built-in one"}};
}

namespace {

Placement on_platform(const Values& values, int ranks) {
    for (const char* name : {"transport", "ranks-per-node"}) {
        if (values.has(name))
            throw InvalidTask(fmt::format("--{} with --machine {}: a platform says itself where "
                                          "ranks lie",
                                          name, values.text("machine")));
    }
    KnownMachine known = known_machine(values.text("machine"), ranks);
    Placement placement;
    placement.nodes = std::move(known.nodes);
    placement.planner =
        std::make_shared<planner::Planner>(std::move(known.profile), std::move(known.wires));
    return placement;
}

std::shared_ptr<planner::Planner> usual(const std::string& transport, int ranks,
                                        const Values& values) {
    const std::string file =
        values.has("machine") ? machine_file(values.text("machine")) : std::string();
    const planner::UsualPlanner usual = calibrate::planner_of(transport, ranks, file);
    print_warnings(usual.warnings);
    return usual.planner;
}

} // namespace

Placement placement_of(const Values& values, int ranks) {
    if (values.has("machine") && is_platform(values.text("machine")))
        return on_platform(values, ranks);
    const std::string asked = values.text("transport");
    Placement placement;
    placement.planner = usual(asked.empty() ? "mpi" : asked, ranks, values);
    const bool threads =
        asked == "threads" || (asked.empty() && placement.machine().transport == "threads");
    if (threads)
        placement.within_node = machine::Link::same_process;
    if (!threads && !values.has("ranks-per-node"))
        return placement;
    const int each = threads ? ranks : static_cast<int>(values.integer("ranks-per-node"));
    for (int rank = 0; rank < ranks; ++rank)
        placement.nodes.push_back(rank / each);
    return placement;
}

namespace {

constexpr std::array<std::string_view, 1> endings{".json"};
/// Without SimGrid's own platform files, whose links are known only to SimGrid.
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
    return {simulate::profile_of(platform), simulate::wires_of(platform),
            simulate::place(simulate::rooms_of(platform.network), {}, ranks, file)};
}

} // namespace sextant::command
