// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/svg.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::report {

/// Hues of up to four kinds of marks in a picture.
using KindHues = std::array<int, 4>;

/// A patch filled as a style class says, for legends.
std::string swatch(std::string_view style_class);

/// Style classes "kind-0", "kind-1", ... that fill marks, one a name.
void add_kind_styles(Svg& svg, std::size_t kinds, const KindHues& hues);
/// And what they mean.
void add_kind_legend(Svg& svg, const std::vector<std::string>& names);

} // namespace sextant::report
