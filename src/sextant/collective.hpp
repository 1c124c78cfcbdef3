// SPDX-License-Identifier: BSD-3-Clause
// Schedules of broadcasts, scatters, gathers, all-gathers and all-to-alls of images in tiles.
#pragma once

#include "sextant/collective/catalogue.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/communicator.hpp"
