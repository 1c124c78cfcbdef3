// SPDX-License-Identifier: BSD-3-Clause
// Connected components of images. Images are divided into tiles, one per rank, and may exceed the
// memory.
#pragma once

#include "sextant/communicator.hpp"
#include "sextant/distributed/components.hpp"
#include "sextant/distributed/labelling.hpp"
#include "sextant/distributed/merging_plan.hpp"
