// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/label/bodies.hpp"

#include <string>
#include <vector>

namespace sextant::command {

/// A table (CSV) of the components or regions of a volume, one row each. Coordinates are in voxels,
/// axes in the order of their lengths.
/// Input     `labels`: the label of each row; empty: 1, 2, …
std::string body_table(const std::vector<kernel::Body>& bodies,
                       const std::vector<std::string>& labels, bool has_intensity);

} // namespace sextant::command
