// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/page.hpp"
#include "sextant/report/recording.hpp"

#include <span>

namespace sextant::report {

/// Why runs lasted as long as they did: what their critical paths consist of, beside each other,
/// and who waited for whom in each. Nothing where nothing was recorded.
Section causes_section(std::span<const Recording> recordings);

} // namespace sextant::report
