// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/series/state.hpp"

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace sextant::registration {

/// Registers every frame of a series to the first sound frame: registers neighbours, lets the
/// registrations vote, and scans the motions (see SeriesRegistration). If another reference is
/// requested, every frame is then registered again to that reference.
///
/// If frames overlap the first frame too little, the scan registers each frame to the base of its
/// segment instead (bases_of()). The motions are then composed, and frames that overlap the
/// reference enough are registered to it. The default reference is then the frame in the middle of
/// the motion.
///
/// If the registration of two neighbours disagrees with the frames around them (consensus.hpp), for
/// example because it is off by a lattice period, it is repeated, starting at the motion that those
/// frames imply. Frames with uncertain positions are also registered to more distant frames. A
/// frame that remains uncertain is not sound. Frames that are not sound are skipped at first, so
/// that the sound frames before and after them count as neighbours; they are registered at the end.
///
/// Frames of opposite contrast (FrameContrast) are recognised by their registrations to previous
/// frames and are inverted in all later steps. The signal of their contrast is negative.
///
/// Input     the series and the result of inspect_series(); options.reference is a frame of the
///           series.
/// Output    the registrations of this rank's frames. Frames are divided among the ranks in order,
///           in blocks whose sizes differ by at most one.
/// Requires  a reference that is not left out (InvalidTask).
/// Throws    AgreedFailure or Cancelled on every rank if any rank fails or is cancelled.
/// Cost      reads each frame once, and again if it has left the cache of the context. Memory: one
///           frame, that cache, and a few numbers per frame of the series.
/// Collective.
/// Deterministic  for the same number of ranks and any number of threads, if `reproducible`. The
///                order in which ⊙ associates depends on the number of ranks; this changes motions
///                by less than their noise.
std::vector<FrameRegistration> register_series(const SeriesContext& context,
                                               SeriesInspection inspection);

/// Throws InvalidData if the frame, which is the requested reference, is left out.
void require_reference(const SeriesContext& context, const FrameRegistration& reference);

/// Performs only the steps before the scan: registers neighbours and votes. `result.motion` and
/// `from_before` of a frame are then the motion to the last sound frame before it. Used before
/// scans of other kinds of motions (register_series_by_fields()). `options.reference` is ignored.
std::vector<FrameRegistration> register_neighbours(const SeriesContext& context,
                                                   SeriesInspection inspection);

/// Returns the series with frames of opposite contrast (FrameContrast) inverted; null if there are
/// none. The source of the context must outlive the result.
/// Collective.
std::unique_ptr<FrameSource> of_one_contrast(const SeriesContext& context,
                                             std::span<const FrameRegistration> own);

} // namespace sextant::registration
