// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"
#include "sextant/machine/profile.hpp"

#include <string>

namespace sextant::command {

/// The parameters of a profile as tables for people: contiguous messages by size, strided ones by
/// size and block, passes of operators by elements and operands. A value whose half interval is
/// more than 5 % of it is marked "~".
std::string tables_of(const machine::Profile& profile);

} // namespace sextant::command
