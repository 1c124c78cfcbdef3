// SPDX-License-Identifier: BSD-3-Clause
// Machine profiles, and predictions of how long schedules take on a machine.
#pragma once

#if __cplusplus <= 201703L
#error "sextant/machine.hpp needs C++20: compile with -std=c++20"
#else

#include "sextant/calibrate/planner_here.hpp"
#include "sextant/communicator.hpp"
#include "sextant/machine/profile_file.hpp"
#include "sextant/model/model.hpp"
#include "sextant/planner/planner.hpp"

#endif
