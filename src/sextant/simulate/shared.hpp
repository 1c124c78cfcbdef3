// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/machine/shared_file.hpp"

#include <array>

namespace sextant::simulate {

inline constexpr std::array<std::string_view, 2> platform_endings{".json", ".xml"};
inline constexpr std::array<std::string_view, 1> order_endings{".txt"};

/// The platforms that Sextant ships, and orders of their hosts.
inline constexpr machine::SharedFolder platforms{"platform", "platforms", platform_endings};
inline constexpr machine::SharedFolder orders{"order", "platforms/orders", order_endings};

} // namespace sextant::simulate
