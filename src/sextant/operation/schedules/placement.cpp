// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/schedules/placement.hpp"

#include <cstdio>

#include <fmt/format.h>

namespace sextant::operation {

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
             .help = "a profile; default: this machine's, or a built-in one"}};
}

Placement placement_of(const Values& values, int ranks) {
    const std::string asked = values.text("transport");
    Placement placement;
    placement.usual = planner::usual_planner(asked.empty() ? "mpi" : asked, values.text("machine"));
    for (const std::string& warning : placement.usual.warnings)
        std::fputs(fmt::format("sextant: warning: {}\n", warning).c_str(), stderr);
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

} // namespace sextant::operation
