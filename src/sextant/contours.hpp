// SPDX-License-Identifier: BSD-3-Clause
// Edges (Canny) and contours of images divided into tiles, one tile per rank.
#pragma once

#include "sextant/communicator.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/core/row_source.hpp"
#include "sextant/distributed/canny.hpp"
#include "sextant/distributed/contour_merging.hpp"
#include "sextant/distributed/contour_tracing.hpp"
#include "sextant/distributed/merging_plan.hpp"
#include "sextant/distributed/tiled_image.hpp"
