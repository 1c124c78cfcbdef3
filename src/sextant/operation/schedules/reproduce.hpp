// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/operation/operation.hpp"

namespace sextant::operation {

/// `sextant reproduce`: the tables and figures of the papers, ours beside theirs.
Operation reproduce_operation();

} // namespace sextant::operation
