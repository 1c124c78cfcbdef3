// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <string>
#include <string_view>

namespace sextant::command {

/// Measures messages of sizes drawn from a seed, between two threads or the ranks that a launcher
/// started, and prints how far a profile's predictions of them are off.
///
/// Throws    InvalidFile, InvalidTask where the profile knows nothing of such messages.
void check_predictions(const std::string& path, unsigned seed, bool json);

/// "60s", "1.5m", "500ms" as seconds. Throws InvalidTask, naming the option and the text.
Seconds duration_from(std::string_view option, const std::string& text);

/// "2%" as .02, more than nothing and at most 100 %. Throws InvalidTask likewise.
double share_from(std::string_view option, const std::string& text);

} // namespace sextant::command
