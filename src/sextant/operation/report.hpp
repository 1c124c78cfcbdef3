// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/operation/operation.hpp"

namespace sextant::operation {

/// `sextant report`: traces of runs, predictions and simulations beside each other on one page.
Operation report_operation();

} // namespace sextant::operation
