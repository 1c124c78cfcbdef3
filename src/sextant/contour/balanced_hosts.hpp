// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/contour/stages.hpp"

namespace sextant::contour {

/// logp-lev-bal: the rank that merges for a tile has the digits of its column and row reversed
/// (bits, where they are powers of two). Neighbours are then far apart at first, while lists are
/// short, and near at last.
int balanced_host(const Grid& grid, int tile);

} // namespace sextant::contour
