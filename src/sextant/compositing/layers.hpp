// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/region.hpp"
#include "sextant/schedule/builder.hpp"

#include <vector>

namespace sextant::compositing {

/// The same pixels of each of a rank's layers, which follow one another in its input: one region, a
/// run a layer. `pixels` lies in the first layer.
Region in_all_layers(const Region& pixels, Elements image, int layers);

/// Appends each run of a region as a region of its own, as the operands of a fold.
void append_runs(std::vector<Region>& operands, const Region& region);

/// The pixels of a region in one layer: folded into scratch where there are several.
Region blended(ProgramBuilder& builder, const Region& region);

} // namespace sextant::compositing
