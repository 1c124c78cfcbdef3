// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/operation/operation.hpp"

namespace sextant::operation {

Operation prove_operation();

} // namespace sextant::operation
