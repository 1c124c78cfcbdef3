// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/series/state.hpp"
#include "sextant/registration/transform/combined.hpp"

namespace sextant::registration {

/// Returns the transforms of all frames after a stage. `state` must outlive the result. Collective.
TransformOf transform_of(SeriesState& state, int stage);

/// Returns the transforms of all frames after a stage, without communication. The fields of all
/// ranks must already be known.
TransformOf known_transform_of(SeriesState& state, int stage);

/// Returns an upper bound of the disk space of a checkpoint with displacement fields: those of all
/// stages, including extra ones, with a margin of two stages.
Bytes disk_of_fields(const FrameHeader& series, int stages);

// Steps of SeriesRegistration. Collective.

/// Performs the first stage: registers the frames to the reference.
void register_first(SeriesState& state);

/// Registers the frames to averages: the requested stages, and up to three more while frames move
/// by more than their deviations.
void refine_stages(SeriesState& state);

/// Fits a family of motions other than the rigid ones, if the model needs it.
void fit_family(SeriesState& state);

/// Registers the rows of frames, if requested.
void fit_rows(SeriesState& state);

} // namespace sextant::registration
