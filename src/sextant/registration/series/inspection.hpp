// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/series/state.hpp"
#include "sextant/registration/transform/combined.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sextant::registration {

/// Reads every frame of a series once, settles the corrections of samples
/// (CorrectedFrames::settle()), and finds frames that cannot be registered: unreadable, constant,
/// much darker than the others, or with too many samples that are not finite.
///
/// Input     on each rank, its own source of the same frames.
/// Requires  at least one frame, of at least 16x16 pixels (InvalidTask).
/// Throws    AgreedFailure on every rank if any rank fails.
/// Collective.
SeriesInspection inspect_series(const SeriesContext& context);

/// Parses a list of numbers and ranges of frames such as "0-9,12". Returns true for the frames
/// listed. Throws InvalidTask if the list is malformed or names a frame outside 0 … `frames` − 1.
std::vector<bool> frames_listed(const std::string& list, std::int64_t frames);

/// Returns the options of averages. For weighted averages, `contributions` has a single placeholder
/// entry.
CombineOptions averaging_options(const RegistrationOptions& options, const PixelArea& area,
                                 bool median);

/// Returns a hash of statistics that depend on the positions of samples in a frame and on the
/// prefilter. The hash differs for a series with shifted or reflected frames.
std::string fingerprint_of_filtered(const std::vector<FrameStatistics>& frames);

/// Fails on every rank if fewer than two frames are registered, or a smaller fraction of the usable
/// frames than options.min_registered. `own`: this rank's frames.
/// Collective.
void require_registered(SeriesState& state, std::size_t registered,
                        std::span<const FrameRegistration> own);

/// Compares these frames from now on, and inspects them. Collective.
void compare(SeriesState& state, FrameSource& frames);

// Steps of SeriesRegistration. Collective.

/// Prepares the source for computation and checks the options.
void open_series(SeriesState& state);

/// Inspects the frames, and finds outliers, defective pixels and blank lines.
void inspect_frames(SeriesState& state);

/// Aligns the rows of bidirectional scans, if they are recognised in up to 16 frames.
void align_rows(SeriesState& state);

/// Restricts the comparison of frames to the selected pixels, if not all are selected.
void match_pixels(SeriesState& state);

/// Removes the shading of frames for registration if it changes within the series. Fails if fewer
/// than two frames are usable.
void remove_shading(SeriesState& state);

} // namespace sextant::registration
