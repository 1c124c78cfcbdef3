// SPDX-License-Identifier: BSD-3-Clause
// Profiles of machines, and what schedules would take on them.
#pragma once

#include "sextant/calibrate/planner_here.hpp"
#include "sextant/communicator.hpp"
#include "sextant/machine/profile_file.hpp"
#include "sextant/model/catalogue.hpp"
#include "sextant/planner/planner.hpp"
