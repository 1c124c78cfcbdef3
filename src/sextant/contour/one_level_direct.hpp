// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/contour/stages.hpp"

namespace sextant::contour {

/// 1-lev-dir: everyone's list goes to everyone by exchanges over the longest distance first. Tiles
/// that meet are far apart until the last exchanges: lists grow, since hardly anything merges.
Stages one_level_direct(const Grid& grid);

} // namespace sextant::contour
