// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/operation/composite/composite_report.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::operation {

/// "render=2.5,build=40" as phases. Throws InvalidTask for what is of no such form, for a name
/// given twice and for those that are `taken`.
std::vector<CompositeSummary::Phase> phases_before(const std::string& text,
                                                   std::span<const std::string_view> taken);

} // namespace sextant::operation
