// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/operation/operation.hpp"

namespace sextant::operation {

/// `sextant simulate`: how long a schedule takes on a machine that need not be there, its links
/// shared by all messages.
Operation simulate_operation();

} // namespace sextant::operation
