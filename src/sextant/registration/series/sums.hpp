// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/series/state.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace sextant::registration {

/// Positions of frames, interpolated from registrations of sums of neighbouring frames.
struct SumsRegistration {
    std::int64_t size = 0;      ///< number of frames per sum; 0 if no sums could be registered
    std::size_t registered = 0; ///< number of frames of registered sums, on all ranks
    std::vector<FrameRegistration> frames = {}; ///< this rank's frames
    std::int64_t reference = 0;
};

/// Registers a series whose frames carry too little signal to be registered to one another. Sums of
/// 4, 8, 16 ... consecutive frames are registered as a series (register_series()), until nearly all
/// sums can be registered. The motions of the sums are interpolated linearly to the frames.
///
/// Input     the usable frames of all ranks; the statistics of all frames; this rank's frames after
///           the inspection. options.reference, if set, is the reference.
/// Output    the result of the size with the most registered frames; `size` is 0 if these are fewer
///           than `at_least`. Frames of sums that are not registered are in doubt and not sound.
///           Uncertainties are those of the sums.
/// Cost      the registration of a series of a quarter of the frames, and up to the same again if
///           larger sums are needed. Results are not stored in the ledger.
/// Collective.
/// Deterministic  under the same conditions as register_series().
SumsRegistration register_sums(const SeriesContext& context, std::span<const std::int64_t> usable,
                               std::span<const FrameStatistics> statistics,
                               std::span<const FrameRegistration> own, std::size_t at_least);

} // namespace sextant::registration
