// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <string>
#include <string_view>

namespace sextant::command {

/// Measures messages of random sizes between two threads or the ranks of a launcher, and prints the
/// errors of a profile's predictions for them.
///
/// Throws    InvalidFile; InvalidTask if the profile has no figures for such messages.
void check_predictions(const std::string& path, unsigned seed, bool json);

/// Parses "60s", "1.5m", "500ms" as seconds. Throws InvalidTask, naming the option and the text.
Seconds duration_from(std::string_view option, const std::string& text);

/// Parses "2%" as .02; the range is above 0 up to 100 %. Throws InvalidTask, naming the option and
/// the text.
double share_from(std::string_view option, const std::string& text);

} // namespace sextant::command
