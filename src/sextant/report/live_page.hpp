// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace sextant::report {

/// Returns a page that shows a series while it is registered: its provisional average, and the
/// drift, rotation and flags of its frames. The page receives them as server-sent events from
/// `events` next to it (assets/live.js describes them).
std::string live_page(std::string_view series);

} // namespace sextant::report
