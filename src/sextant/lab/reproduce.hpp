// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"

namespace sextant::command {

/// `sextant reproduce`: tables and figures of papers, our numbers next to theirs.
Operation reproduce_operation();

} // namespace sextant::command
