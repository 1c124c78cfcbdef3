// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <string>

namespace sextant {

/// The whole of a regular file of at most `most` bytes. Throws InvalidFile otherwise: a device or a
/// pipe may have no end, or never answer.
std::string read_text(const std::string& path, Bytes most);

} // namespace sextant
