// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/page.hpp"
#include "sextant/report/recording.hpp"

#include <span>
#include <string>

namespace sextant::report {

/// Shows the activities of ranks in one or more runs on one time axis: one lane per rank, messages
/// as arrows, the critical path, with zoom. The lanes of a rank in all runs are adjacent.
///
/// If there are more than 256 ranks, neighbours share a lane; with more than 200,000 events,
/// neighbouring events are merged; with more than 100,000 messages, arrows are left out. The
/// section states which of these apply.
/// Requires  recordings that meet the requirements of `bars`.
Section timeline_section(std::span<const Recording> recordings);

/// Returns a page about one or more runs: times and traffic, activities of ranks on one time axis,
/// causes of the run time, and messages of each.
/// Requires  recordings that meet the requirements of `bars`.
Page comparison(std::string title, std::span<const Recording> recordings);

} // namespace sextant::report
