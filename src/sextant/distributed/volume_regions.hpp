// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/distributed/volume_labelling.hpp"
#include "sextant/distributed/volume_slabs.hpp"

namespace sextant::distributed {

/// Measures the voxels of each value of a volume; see VolumeLabelling::measure.
/// Requires  slabs that are connected by value. Collective.
VolumeRegions measure_regions(const Communicator& communicator, const RunControl& control,
                              VolumeSlabs& slabs);

} // namespace sextant::distributed
