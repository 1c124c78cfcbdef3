// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/operator.hpp"

#include <span>
#include <string_view>

namespace sextant::kernel {

/// The operators that blend images: one file of code and one row each.
std::span<const Operator> catalogue();

/// By name. Throws InvalidTask with near names.
const Operator& find(std::string_view name);

} // namespace sextant::kernel
