// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/document.hpp"

#include <span>
#include <string_view>

namespace sextant::report {

/// Pages of several runs as one: links to each, then one after another.
///
/// Input     a title as text; the pages' parts.
Document joined(std::string_view title, std::span<const Document> pages);

} // namespace sextant::report
