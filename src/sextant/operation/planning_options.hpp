// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/distributed/merging_plan.hpp"
#include "sextant/operation/operation.hpp"
#include "sextant/planner/usual.hpp"

// Options of all commands that plan.
namespace sextant::operation {

/// `--no-probe`, and what it says.
Parameter no_probe_parameter();
planner::Probing probing_of(const Values& values);

/// `--shared-memory`: whether processes of a node read each other's memory.
Parameter shared_memory_parameter();

/// `--pattern`: in which order tiles are merged, and what goes with it: --machine, --no-probe,
/// --report.
Parameter pattern_parameter();
distributed::MergingRequest merging_request(const Values& values);

} // namespace sextant::operation
