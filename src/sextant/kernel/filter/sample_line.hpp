// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/filter/samples.hpp"

namespace sextant::kernel {

/// Whether pieces that do not overlap hold all of a rectangle.
bool hold(SamplePieces pieces, const Tile& part);

/// The samples of row `y` from column `x` on, as floats, with what is seen beyond the border.
/// Requires  pieces, one at least, that hold what is seen (not checked).
void read_line(SamplePieces pieces, BorderRule rule, Elements x, Elements y, std::span<float> line);

} // namespace sextant::kernel
