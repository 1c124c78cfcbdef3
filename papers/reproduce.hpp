// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"

namespace sextant::papers {

/// The command of `sextant-papers`, `sextant reproduce`: recomputes tables and figures of papers
/// and compares the results with the published numbers.
command::Commands catalogue();

} // namespace sextant::papers
