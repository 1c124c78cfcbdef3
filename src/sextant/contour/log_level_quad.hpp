// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/contour/stages.hpp"

namespace sextant::contour {

/// logp-lev-quad: two by two neighbours merge, those side by side and then both pairs; then two by
/// two of what they became, and so on. Where a side of the grid is no power of two, as many as its
/// prime factors say; a side that is used up first leaves the other to merge alone.
Stages log_level_quad(const Grid& grid);

} // namespace sextant::contour
