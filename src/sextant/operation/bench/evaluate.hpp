// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/operation/operation.hpp"

namespace sextant::operation {

Operation evaluate_operation();

} // namespace sextant::operation
