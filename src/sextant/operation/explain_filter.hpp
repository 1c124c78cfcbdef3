// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/operation/operation.hpp"

namespace sextant::operation {

/// Prints which grid of tiles a filter would use on so many ranks, and all others, predicted.
int explain_filter(const Values& values);

/// On which node each of so many ranks lies, as `explain` is told: threads share one; processes
/// fill one after another.
std::vector<int> nodes_of(const Values& values, int ranks);

} // namespace sextant::operation
