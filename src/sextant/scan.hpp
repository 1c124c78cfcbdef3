// SPDX-License-Identifier: BSD-3-Clause
// Inclusive, exclusive and segmented prefix scans of a series, whose operator may take seconds.
// Scans run on the ranks of a communicator and the threads of each rank.
#pragma once

#if __cplusplus <= 201703L
#error "sextant/scan.hpp needs C++20: compile with -std=c++20"
#else

#include "sextant/communicator.hpp"
#include "sextant/planner/scan_plan.hpp"
#include "sextant/prefix/scan.hpp"
#include "sextant/prefix/scan_forms.hpp"

#endif
