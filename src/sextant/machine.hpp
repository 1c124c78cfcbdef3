// SPDX-License-Identifier: BSD-3-Clause
// Machine profiles, and predictions of how long schedules take on a machine.
#pragma once

#include "sextant/calibrate/planner_here.hpp"
#include "sextant/communicator.hpp"
#include "sextant/machine/profile_file.hpp"
#include "sextant/model/model.hpp"
#include "sextant/planner/planner.hpp"
