// SPDX-License-Identifier: BSD-3-Clause
// Gaussian derivatives and features of images and volumes, which need not fit in memory. Images are
// divided into tiles and volumes into boxes, one per rank.
#pragma once

#if __cplusplus <= 201703L
#error "sextant/filter.hpp needs C++20: compile with -std=c++20"
#else

#include "sextant/array/memory_frames.hpp"
#include "sextant/array/plane_sink.hpp" // PlaneSink
#include "sextant/array/row_source.hpp"
#include "sextant/communicator.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/filter/filter_plan.hpp"
#include "sextant/filter/filtering.hpp"
#include "sextant/filter/window_filter.hpp"
#include "sextant/tiles/tiled_image.hpp"

#endif
