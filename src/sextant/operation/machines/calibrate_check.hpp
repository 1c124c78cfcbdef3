// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace sextant::operation {

/// Measures messages of sizes drawn from a seed, between two threads or the ranks that a launcher
/// started, and prints how far a profile's predictions of them are off.
///
/// Throws    InvalidFile, InvalidTask where the profile knows nothing of such messages.
void check_predictions(const std::string& path, unsigned seed, bool json);

} // namespace sextant::operation
