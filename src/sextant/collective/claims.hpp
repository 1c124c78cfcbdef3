// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/collective.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/core/region.hpp"
#include "sextant/schedule/prove.hpp"

namespace sextant::collective {

/// The pixels of the image with which a rank begins, and with which it ends, in the order in which
/// it has them: a region of buffer 0, in which the image lies row by row.
Region pixels_before(Collective collective, const Grid& grid, int rank);
Region pixels_after(Collective collective, const Grid& grid, int rank);

/// What `prove` is to show of a schedule for it: every rank ends with what is wanted, in place.
Claim claim_of(Collective collective, const Grid& grid);

} // namespace sextant::collective
