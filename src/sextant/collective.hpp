// SPDX-License-Identifier: BSD-3-Clause
// Collective operations whose schedules are chosen by predicted run time: broadcast, scatter,
// gather, all-gather, all-to-all, reductions and scans. Also the schedules themselves, including
// those for tiled images.
#pragma once

#if __cplusplus <= 201703L
#error "sextant/collective.hpp needs C++20: compile with -std=c++20"
#else

#include "sextant/collective/catalogue.hpp"
#include "sextant/collectives/collective.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/communicator.hpp"

#endif
