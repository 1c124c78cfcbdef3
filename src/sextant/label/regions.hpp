// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/label/label.hpp"
#include "sextant/label/slabs.hpp"

namespace sextant::label {

/// Measures the voxels of each value of a volume; see Labelling::measure.
/// Requires  slabs that are connected by value. Collective.
LabelRegions measure_regions(const Communicator& communicator, const RunControl& control,
                             VolumeSlabs& slabs, bool only_sizes);

} // namespace sextant::label
