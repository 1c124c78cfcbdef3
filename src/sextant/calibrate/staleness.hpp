// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/machine/profile.hpp"

#include <string>
#include <vector>

namespace sextant::calibrate {

/// Where a profile and this machine differ, a sentence each: host, cores, MPI, age. Empty where it
/// still holds.
///
/// Input     a profile; `here`, what describe_machine says of this machine now.
std::vector<std::string> differences(const machine::Profile& profile, const machine::Profile& here);

/// The same for the state, by an empty round trip that was just measured: "" where it is that of
/// the profile.
std::string difference_of_state(const machine::Profile& profile, Seconds empty_round_trip);

/// The empty round trip between two threads of this process, in about a millisecond.
Seconds probe_threads();

} // namespace sextant::calibrate
