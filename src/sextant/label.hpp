// SPDX-License-Identifier: BSD-3-Clause
// Connected components of images that are divided into tiles, one tile per rank.
#pragma once

#include "sextant/communicator.hpp"
#include "sextant/distributed/components.hpp"
#include "sextant/distributed/merging_plan.hpp"
