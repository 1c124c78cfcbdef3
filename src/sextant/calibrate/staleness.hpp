// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/machine/profile.hpp"

#include <string>
#include <vector>

namespace sextant::calibrate {

/// Where a profile and this machine differ, a sentence each: host, cores, MPI, age. Empty where it
/// still holds.
///
/// Input     a profile; `here`, what describe_machine says of this machine now.
std::vector<std::string> differences(const machine::Profile& profile, const machine::Profile& here);

/// The same for the state, by the probe's round trip that was just measured: "" where it is that of
/// the profile.
std::string difference_of_state(const machine::Profile& profile, Seconds round_trip);

/// Whether a round trip of the probe is of the state that another one tells; of any, where that is
/// 0.
bool is_state(Seconds of_state, Seconds round_trip);

/// The probe's round trip between ranks 0 and 1, in about a millisecond; on ranks 0 and 1, nothing
/// on others. Collective.
Seconds probe_state(const Communicator& communicator);
/// The same between two threads of this process.
Seconds probe_threads();

} // namespace sextant::calibrate
