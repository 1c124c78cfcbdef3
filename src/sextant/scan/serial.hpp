// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/scan/line.hpp"
#include "sextant/scan/task.hpp"

namespace sextant::scan {

/// Serial scan: each rank combines what its left neighbour hands on with its own value, and hands
/// that on. The fewest applications, all one after another.
///
/// Input     this rank's value; the form that the last rank wants.
/// Output    what came from the left, and that combined with the value, unless this is the last
/// rank
///           and does not want it.
/// Cost      p − 1 dependent applications, p − 1 in all.
/// Source    the definition
Prefixes serial(Line& line, const Region& value, Form at_last);

} // namespace sextant::scan
