// SPDX-License-Identifier: BSD-3-Clause
// Gaussian derivatives and features of images that are divided into tiles, one tile per rank.
#pragma once

#include "sextant/communicator.hpp"
#include "sextant/distributed/filter_plan.hpp"
#include "sextant/distributed/window_filter.hpp"
