// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/model/c3.hpp"

namespace sextant::lab {

/// The counting rules of the C³ paper on a grid of processors: fractions of packets count, p stands
/// for p - 1, distances are those printed, and groups are at the positions stated by the
/// algorithms.
model::C3Reading as_the_c3_paper_reads(const Grid& grid);

} // namespace sextant::lab
