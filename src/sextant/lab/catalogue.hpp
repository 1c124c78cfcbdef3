// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"

namespace sextant::lab {

/// The commands of `sextant-lab`.
command::Commands catalogue();

} // namespace sextant::lab
