// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"

namespace sextant::command {

/// `sextant reproduce`: the tables and figures of the papers, ours beside theirs.
Operation reproduce_operation();

} // namespace sextant::command
