// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/schedule/trace.hpp"

namespace sextant {

/// What a rank did while lists of tiles were merged, for those who show it.
struct MergingRecord {
    Trace trace;
    Bytes sent = 0;
};

} // namespace sextant
