// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/correct/static_pattern.hpp"
#include "sextant/registration/series/state.hpp"

namespace sextant::registration {

/// Sets the static pattern of the result, and makes the sources of frames without it.
void subtract(SeriesState& state, StaticPattern found);

/// Subtracts the static pattern of the detector, if there is one and the specimen moves
/// (layers.hpp).
void remove_static(SeriesState& state);

} // namespace sextant::registration
