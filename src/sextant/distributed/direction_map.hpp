// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/distributed/image.hpp"
#include "sextant/kernel/filter/samples.hpp"
#include "sextant/kernel/label/directions.hpp"

#include <string>

namespace sextant::distributed {

/// The codes of a direction map in some samples of it: to `to`, one after another.
/// Requires  rows one after another. Throws InvalidFile as below.
void convert_directions(const kernel::SampleView& samples, const std::string& path,
                        kernel::Direction* to);

/// The codes of a direction map that was read as samples: -1 no edge, -2 an end, 0 to 7 directions.
/// Throws InvalidFile, naming the pixel, for any other value.
Image directions_from(const Image& samples, const std::string& path);

} // namespace sextant::distributed
