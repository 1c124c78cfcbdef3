// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"

namespace sextant::command {

/// `sextant bench`: times our algorithms against MPI's in one run.
Operation bench_operation();

} // namespace sextant::command
