// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/series/state.hpp"

namespace sextant::registration {

/// Subtracts the static pattern of the detector, if there is one and the specimen moves
/// (layers.hpp).
void remove_static(SeriesState& state);

} // namespace sextant::registration
