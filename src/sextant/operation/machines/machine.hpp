// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/operation/operation.hpp"

namespace sextant::operation {

Operation machine_operation();

} // namespace sextant::operation
