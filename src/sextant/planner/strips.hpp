// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/machine/profile.hpp"
#include "sextant/model/model.hpp"

#include <optional>
#include <string_view>

namespace sextant::planner {

/// One run of a kernel over samples that the threads of a rank share in strips of rows or planes.
/// Threads share memory: there is no message and no schedule.
struct StripWork {
    std::string_view kernel, element = "f32"; ///< as named in profiles
    Elements results = 0;                     ///< of all threads of the rank
    /// The work per result (machine::Pass::operands). If it depends on the data: its usual value
    /// and the ends of its range.
    int usual = 1, least = usual, most = usual;
};

/// Predicts the time of a kernel in strips of equal size, one per thread. Costs were measured with
/// all cores of a node busy, so they include the sharing of memory bandwidth; if the profile has
/// the cost of the kernel with the other cores idle, the cost for fewer busy cores is interpolated.
/// More threads than cores take turns.
///
/// Input     `threads`: of the rank; `busy`: threads of all ranks of the node.
/// Output    the interval also covers the range of the work per result; empty if the profile lacks
///           the kernel.
std::optional<model::Span> strip_time(const StripWork& work, int threads, int busy,
                                      const machine::Profile& machine);

} // namespace sextant::planner
