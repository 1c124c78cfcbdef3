// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/schedule/program.hpp"

namespace sextant::collective {

/// Broadcast of something long: a binomial scatter of equal parts, whatever the grid, and a ring
/// all-gather of them.
///
/// Input     at rank 0 the image, row by row; elsewhere nothing.
/// Output    the image.
/// Cost      ⌈log2 p⌉ + p − 1 rounds; no rank sends or receives more than twice the image.
/// Source    Chan, Heimlich, Purkayastha, van de Geijn, CCPE 19, 2007, doi:10.1002/cpe.1206
Program scatter_all_gather_broadcast(const Grid& grid, int rank);

} // namespace sextant::collective
