// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/series/stations.hpp"
#include "sextant/registration/stages/refinement.hpp"

#include <cstdint>
#include <vector>

namespace sextant::registration {

/// The corrections of all frames of Registered.
struct FrameCorrections {
    /// For each frame, the correction of its station, to be applied before its motion, and its
    /// covariance relative to the series.
    std::vector<UncertainMotion> frames;
};

/// Registers parts of a series to one another whose frames do not overlap: the averages of the
/// frames around stations are registered to those that overlap them, and the corrections are chosen
/// that agree best with all of these registrations.
///
/// Output    the same corrections on every rank.
/// Throws    AgreedFailure on every rank if any rank fails; Cancelled.
/// Cost      reads each frame once; a registration without search per pair of stations that
///           overlap. Memory per rank: five frames, and one per station whose registrations are
///           under way.
/// Collective.
/// Deterministic  The bits do not depend on ranks or threads.
FrameCorrections register_stations(const SeriesContext& context, const Registered& registered,
                                   std::int64_t reference, std::uint32_t stage);

} // namespace sextant::registration
