// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/core/units.hpp"
#include "sextant/schedule/trace.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace sextant {

/// A clock as those who read it know it.
struct HostClock {
    std::uint64_t identity = 0; ///< equal for ranks that read the same one
    std::function<Seconds()> now;

    /// The steady clock of this host.
    static HostClock steady();
};

/// Asks what time it is: the first rank on each clock that is not rank 0's sends rank 0 messages
/// that come back with its time; of the shortest round trip the middle is when that was read.
///
/// Output    by clock, in the order of their first ranks, the same on every rank; rank 0's is the
///           first, with offset 0; uncertain by half of the shortest round trip. A clock that ran
///           backwards in every round trip has no finite uncertainty.
/// Collective.
/// Cost      `trips` round trips for each clock, one clock after another; nothing for a single one.
/// Source    Cristian, Distributed Computing 3, 1989, doi:10.1007/BF01784024
std::vector<ClockOffset> clock_offsets(const Communicator& communicator, const HostClock& clock,
                                       int trips = 64);

/// What to add to a time of a clock that was asked twice, once long after the other, for that of
/// rank 0: offset and drift. Asked at nearly the same time, which tells nothing of drift, the
/// better of both offsets.
Seconds correction(const ClockOffset& before, const ClockOffset& after, Seconds time);

} // namespace sextant
