// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace sextant::operation {

/// Where a result was made.
std::string host();

/// When: now, UTC, "2025-01-31T12:00:00Z".
std::string date();

} // namespace sextant::operation
