// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/model/c3.hpp"

namespace sextant::reproduce {

/// How the figures of the C³ paper count on a grid of processors: parts of packets in part, p for
/// p - 1, distances as they are printed, and groups where the algorithms say that they lie.
model::C3Reading as_the_c3_paper_reads(const Grid& grid);

} // namespace sextant::reproduce
