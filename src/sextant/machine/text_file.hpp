// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <string>

namespace sextant::machine {

/// The whole of a text file. Throws InvalidFile where it cannot be read or has more than `most`
/// bytes.
std::string read_text(const std::string& path, Bytes most);

} // namespace sextant::machine
