// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace sextant::report {

/// The style sheet of a page.
std::string_view page_style();

} // namespace sextant::report
