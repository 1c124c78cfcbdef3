// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/calibrate/cells.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/machine/profile.hpp"

#include <string>
#include <vector>

namespace sextant::calibrate {

/// The full path of a round trip's message, as a profile has it. Throws InvalidTask where it does
/// not.
Seconds full_path(const Cell& cell, const machine::Profile& profile, machine::Link link);

/// A message whose full path was predicted from a profile and then measured.
struct HeldOut {
    Cell cell;
    Seconds predicted = 0, measured = 0;

    double error() const; ///< relative to what was measured, without sign
};

/// Sizes drawn from a seed: contiguous ones, by their logarithm from 1 B to 8 MiB, and tiles of
/// images of several widths, of which none has the rows of a calibration.
std::vector<Cell> draw_held_out(unsigned seed, int contiguous, int strided);

/// Measures cells, in bursts interleaved over so many rounds, and looks them up in a profile.
///
/// Requires  what the profile knows of the link (InvalidTask). Collective over the stopwatch.
std::vector<HeldOut> hold_out(Stopwatch& stopwatch, const std::vector<Cell>& cells,
                              const machine::Profile& profile, machine::Link link, int rounds);

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
