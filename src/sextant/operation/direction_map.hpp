// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/distributed/image.hpp"

#include <string>

namespace sextant::operation {

/// The codes of a direction map that was read as samples: -1 no edge, -2 an end, 0 to 7 directions.
/// Throws InvalidFile, naming the pixel, for any other value.
distributed::Image directions_from(const distributed::Image& samples, const std::string& path);

} // namespace sextant::operation
