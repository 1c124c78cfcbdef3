// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/series/state.hpp"

// The steps of SeriesRegistration after the registration of the frames. Collective.
namespace sextant::registration {

/// Chooses the frames that are averaged, and the area of the result images.
void choose_results(SeriesState& state);

/// Computes the average and the median of the registered frames, and their resolution.
void average_frames(SeriesState& state);

/// Computes the mean of the frames as they were recorded, if requested.
void average_recorded(SeriesState& state);

/// Gathers the frames of all ranks, and states what concerns the whole series.
void gather_results(SeriesState& state);

} // namespace sextant::registration
