// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"

namespace sextant::lab {

/// `sextant bench`: times Sextant's algorithms and MPI's in the same run.
command::Operation bench_operation();

} // namespace sextant::lab
