// SPDX-License-Identifier: BSD-3-Clause
// Build a schedule, write and read it as JSON, prove it correct, and run it on a communicator.
#pragma once

#if __cplusplus <= 201703L
#error "sextant/schedule.hpp needs C++20: compile with -std=c++20"
#else

#include "sextant/collective/schedule_file.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/communicator.hpp"
#include "sextant/core/operator.hpp"
#include "sextant/kernel/fold/catalogue.hpp"
#include "sextant/schedule/builder.hpp"
#include "sextant/schedule/program.hpp"
#include "sextant/schedule/prove.hpp"

#endif
