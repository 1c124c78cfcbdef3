// SPDX-License-Identifier: BSD-3-Clause
// Prefix scans of a series whose operator may take seconds, inclusive, exclusive and segmented: on
// the ranks of a communicator and the threads of each rank.
#pragma once

#include "sextant/communicator.hpp"
#include "sextant/planner/scan_plan.hpp"
#include "sextant/prefix/scan.hpp"
#include "sextant/prefix/scan_forms.hpp"
