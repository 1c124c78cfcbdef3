// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/model/c3.hpp"

namespace sextant::lab {

/// The counting rules of the C³ paper on a grid of processors: fractions of packets count, p
/// replaces p - 1, distances are as printed, and groups are at the positions that the algorithms
/// state.
model::C3Reading as_the_c3_paper_reads(const Grid& grid);

} // namespace sextant::lab
