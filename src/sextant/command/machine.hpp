// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"
#include "sextant/machine/profile.hpp"

#include <string>

namespace sextant::command {

/// A profile as tables: contiguous messages by size, strided messages by size and block, operator
/// passes by elements and operands. Values whose half interval is more than 5 % are marked "~".
std::string tables_of(const machine::Profile& profile);

} // namespace sextant::command
