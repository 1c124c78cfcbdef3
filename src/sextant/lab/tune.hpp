// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"

namespace sextant::lab {

/// The command `sextant tune`: selects and verifies algorithms of MPI's collective operations.
command::Operation tune_operation();

} // namespace sextant::lab
