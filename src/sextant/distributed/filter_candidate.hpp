// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/distributed/filter_plan.hpp"
#include "sextant/machine/file_costs.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace sextant::distributed {

/// The kernel of filters, as profiles call it.
inline constexpr std::string_view filter_kernel = "gaussian-derivatives";

/// What profiles call the kernels of a task's program.
std::vector<model::KernelUse> kernels_of(const FilterTask& task);

/// The program on so many rows in the middle of the image.
filtering::WindowTask rows_of(const FilterTask& task, const filtering::Way& way, Elements rows);

/// The same for the planner.
Candidate candidate_of(const FilterTask& task, const filtering::Way& way, Elements rows);

/// What reading these rows takes; nothing where the profile does not know.
std::optional<Seconds> reading(const FilterTask& task, const filtering::Way& way, Elements rows,
                               const machine::FileCosts& files);

} // namespace sextant::distributed
