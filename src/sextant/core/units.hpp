// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace sextant {

/// A count of elements (pixels, values), the unit of schedules. Never bytes.
using Elements = std::int64_t;
/// A count of bytes, the unit of transports and files.
using Bytes = std::int64_t;
/// A duration, or a time since the start of a run.
using Seconds = double;

} // namespace sextant
