// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"

namespace sextant::lab {

/// `sextant reproduce`: recomputes tables and figures of papers and compares the results
/// with the published numbers.
command::Operation reproduce_operation();

} // namespace sextant::lab
