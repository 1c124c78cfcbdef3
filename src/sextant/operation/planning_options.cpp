// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/planning_options.hpp"

namespace sextant::operation {

Parameter no_probe_parameter() {
    return {.name = "no-probe",
            .type = Type::flag,
            .help = "plan for a built-in machine if this one has no profile; do not probe it"};
}

planner::Probing probing_of(const Values& values) {
    return values.flag("no-probe") ? Probing::off : Probing::now;
}

Parameter shared_memory_parameter() {
    return {.name = "shared-memory",
            .type = Type::choice,
            .value = "WHEN",
            .fallback = "auto",
            .help = "processes of a node share memory",
            .choices = {"auto", "on", "off"}};
}

Parameter pattern_parameter() {
    return {.name = "pattern",
            .value = "NAME",
            .fallback = distributed::MergingRequest::automatic,
            .help = "in which order tiles are merged (sextant list algorithms)"};
}

distributed::MergingRequest merging_request(const Values& values) {
    return {values.text("pattern"), values.text("machine"), probing_of(values),
            values.has("report")};
}

} // namespace sextant::operation
