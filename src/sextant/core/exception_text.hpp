// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace sextant {

/// What the exception at hand says. A caller's code may throw anything. Only within a catch.
std::string text_of_current_exception();

} // namespace sextant
