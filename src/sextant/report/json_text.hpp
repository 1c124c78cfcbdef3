// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace sextant::report {

/// A text as JSON, quoted, that may stand in a script of a page: nothing in it ends the script or
/// is markup. Bytes that are no UTF-8 become U+FFFD.
std::string json_text(std::string_view text);

} // namespace sextant::report
