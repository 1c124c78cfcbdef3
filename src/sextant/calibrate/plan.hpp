// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/calibrate/cell.hpp"

#include <vector>

namespace sextant::calibrate {

/// The cells to measure, the most important first: a launch that runs out of time has what any
/// model needs, then strides, then more sizes.
using Plan = std::vector<std::vector<Cell>>;

struct PlanOptions {
    bool lending = false;            ///< whether the ranks share memory
    bool work = true;                ///< operators, kernels and copies too, not only messages
    Bytes memory = Bytes{200} << 20; ///< that a cell may take on a rank
};

Plan make_plan(const PlanOptions& options);

/// A small plan for a short time: what every model needs first, then the rest by importance.
Plan make_quick_plan(const PlanOptions& options);

/// The same with the sizes of messages that an earlier launch refined.
Plan with_sizes_of(Plan plan, const machine::LinkCosts& earlier);

/// The memory that a pass needs.
Bytes memory_of_pass(const Cell& pass);

} // namespace sextant::calibrate
