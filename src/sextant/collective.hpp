// SPDX-License-Identifier: BSD-3-Clause
// Collective operations that are planned by prediction: broadcast, scatter, gather, all-gather,
// all-to-all, reductions and scans. The schedules that they are made of, also for images in tiles.
#pragma once

#include "sextant/collective/catalogue.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/communicator.hpp"
#include "sextant/distributed/collective.hpp"
