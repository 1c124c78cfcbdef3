// SPDX-License-Identifier: BSD-3-Clause
// Blend partial images, one or several per rank, into one image: flat and deep images, frames in
// flight, tiled displays.
#pragma once

#if __cplusplus <= 201703L
#error "sextant/compositor.hpp needs C++20: compile with -std=c++20"
#else

#include "sextant/communicator.hpp"
#include "sextant/compositor/compositor.hpp"
#include "sextant/compositor/deep_compositor.hpp"
#include "sextant/compositor/frames_in_flight.hpp"
#include "sextant/compositor/tile_wall.hpp"
#include "sextant/core/image.hpp"
#include "sextant/kernel/fold/sparse_code.hpp" // sampled_density

#endif
