// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/series/state.hpp"

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace sextant::registration {

/// Registers every frame of a series to the first sound frame by neighbours, vote and scan, as
/// SeriesRegistration describes. If another reference is requested, then registers every frame
/// again to that reference.
///
/// If frames overlap the first one too little, the scan registers each to the base of its segment
/// instead (bases_of()). The motions are then composed, and frames that overlap the reference
/// enough are registered to it; by default, it is the frame in the middle of the motion.
///
/// If the registration of two neighbours disagrees with the frames around them (consensus.hpp), for
/// example after a jump by a lattice period, it is repeated, starting from the motion that those
/// frames imply. Frames whose position remains uncertain after registrations to more distant
/// frames are not sound: the frames before and after them count as neighbours, as with frames that
/// are left out, and they are registered afterwards.
///
/// Frames of opposite contrast (FrameContrast) are recognised by their registrations to the frames
/// before them, and inverted from then on; the signal of their contrast is negative.
///
/// Input     the series and the result of inspect_series(); options.reference is a frame of the
///           series.
/// Output    the registrations of this rank's frames. Frames are divided among the ranks in order,
///           in blocks whose sizes differ by at most one.
/// Requires  a reference that is not left out (InvalidTask).
/// Throws    AgreedFailure or Cancelled on every rank if any rank fails or is cancelled.
/// Cost      reads each frame twice, and two frames for each application of ⊙. Memory: one frame,
///           `farthest` + 1 pyramids, and a few numbers per frame of the series.
/// Collective.
/// Deterministic  for the same number of ranks and any number of threads, if `reproducible`. The
///                order in which ⊙ associates depends on the number of ranks; this changes motions
///                by less than their noise.
std::vector<FrameRegistration> register_series(const SeriesContext& context,
                                               SeriesInspection inspection);

/// Performs only the steps before the scan: registers neighbours and votes. `result.motion` and
/// `from_before` of a frame are then its motion to the last sound frame before it. Used before
/// scans of other motions (register_series_by_fields()); `options.reference` is ignored.
std::vector<FrameRegistration> register_neighbours(const SeriesContext& context,
                                                   SeriesInspection inspection);

/// Returns the series with its inverted frames (FrameContrast) brought to the contrast of the
/// others; null if there are none. The source of the context must outlive the result.
/// Collective.
std::unique_ptr<FrameSource> of_one_contrast(const SeriesContext& context,
                                             std::span<const FrameRegistration> own);

} // namespace sextant::registration
