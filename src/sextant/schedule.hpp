// SPDX-License-Identifier: BSD-3-Clause
// Build a schedule, prove it correct, and run it on a communicator.
#pragma once

#include "sextant/comm/execute.hpp"
#include "sextant/communicator.hpp"
#include "sextant/core/operator.hpp"
#include "sextant/kernel/fold/catalogue.hpp"
#include "sextant/schedule/builder.hpp"
#include "sextant/schedule/program.hpp"
#include "sextant/schedule/prove.hpp"
