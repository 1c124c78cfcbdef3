// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/page.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace sextant::report {

/// Two pictures of the same place: PNG files of one size.
struct BeforeAfter {
    std::vector<std::byte> before, after;
    std::string caption;
    std::string title;
};

/// One picture over the other, with a slider between them; beside each other on paper.
/// Throws    std::logic_error where one is no PNG.
Section before_after_section(const BeforeAfter& pictures);

} // namespace sextant::report
