// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"

namespace sextant::lab {

/// `sextant bench`: times our algorithms against MPI's in one run.
command::Operation bench_operation();

} // namespace sextant::lab
