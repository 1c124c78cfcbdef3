// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/element.hpp"

#include <string>

namespace sextant::operation {

/// The element format that a user calls "f32", "f16" or "u8": with depth where the operator `blend`
/// needs it. Throws InvalidTask for other names and for operators that are unknown.
ElementFormat element_named(const std::string& name, const std::string& blend);

} // namespace sextant::operation
