// SPDX-License-Identifier: BSD-3-Clause
// Connected components of images and volumes, which need not fit in memory. Images are divided into
// strips of rows, volumes into slabs of planes.
#pragma once

#if __cplusplus <= 201703L
#error "sextant/label.hpp needs C++20: compile with -std=c++20"
#else

#include "sextant/array/row_source.hpp"
#include "sextant/communicator.hpp"
#include "sextant/contours/components.hpp"
#include "sextant/contours/merging_plan.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/label/label.hpp"
#include "sextant/label/stitching.hpp"
#include "sextant/tiles/tiled_image.hpp"

#endif
