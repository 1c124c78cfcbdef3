// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/operation.hpp"

namespace sextant::lab {

/// `sextant reproduce`: tables and figures of papers, our numbers next to theirs.
command::Operation reproduce_operation();

} // namespace sextant::lab
