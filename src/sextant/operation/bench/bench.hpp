// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/operation/operation.hpp"

namespace sextant::operation {

/// `sextant bench`: what we do against what MPI offers, timed in one run.
Operation bench_operation();

} // namespace sextant::operation
