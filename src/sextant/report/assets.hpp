// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace sextant::report {

/// The files of report/assets, which the build embeds in the library.
namespace assets {

extern const std::string_view live_js;
extern const std::string_view page_css;
extern const std::string_view slider_js;
extern const std::string_view timeline_js;

} // namespace assets

} // namespace sextant::report
