// SPDX-License-Identifier: BSD-3-Clause
// Edges (Canny) and contours of images divided into tiles, one tile per rank.
#pragma once

#if __cplusplus <= 201703L
#error "sextant/contours.hpp needs C++20: compile with -std=c++20"
#else

#include "sextant/array/row_source.hpp"
#include "sextant/communicator.hpp"
#include "sextant/contours/canny.hpp"
#include "sextant/contours/contour_merging.hpp"
#include "sextant/contours/contour_tracing.hpp"
#include "sextant/contours/merging_plan.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/tiles/tiled_image.hpp"

#endif
