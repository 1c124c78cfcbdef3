// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/planner/planner.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::planner {

/// Whether a machine without a profile is probed. SEXTANT_PROBE=off forbids it in any case.
enum class Probing {
    off,  ///< planned for as a built-in machine
    kept, ///< by a probe that was kept, if there is one
    now   ///< else measured
};

/// The planner of a process, and what its user should know of the profile it plans with.
struct UsualPlanner {
    std::shared_ptr<Planner> planner;
    std::string path; ///< of the profile; empty: built in
    std::vector<std::string> warnings;
};

/// A planner for a transport ("threads" or "mpi") with the profile `asked` for, a file; where that
/// is empty, with that of $SEXTANT_MACHINE; else with the one that `sextant calibrate` wrote for
/// this user; else with a built-in one. Made once a process and file, so that it remembers.
/// Throws    InvalidFile, of a file that was named. A damaged one that was not is passed over with
///           a warning.
UsualPlanner usual_planner(std::string_view transport, const std::string& asked = "");

/// The usual planner's plan; where its profile has no words for the task, as for ranks on several
/// nodes where one was measured, that of a built-in machine, with a warning.
Plan plan_or_built_in(const UsualPlanner& usual, const compositing::Task& task, const Work& work,
                      const compositing::Tuning& asked, std::vector<std::string>& warnings);

} // namespace sextant::planner
