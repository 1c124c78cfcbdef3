// Blend partial images, one or several per rank, into one image: flat and deep images, frames in
// flight, tiled displays.
#pragma once

#include "sextant/communicator.hpp"
#include "sextant/compositor/compositor.hpp"
#include "sextant/compositor/deep_compositor.hpp"
#include "sextant/compositor/frames_in_flight.hpp"
#include "sextant/compositor/tile_wall.hpp"
