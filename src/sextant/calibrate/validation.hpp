// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/calibrate/cells.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/machine/profile.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sextant::calibrate {

/// Returns the time of the full path of a cell's message according to a profile. Throws InvalidTask
/// if the profile lacks it.
Seconds full_path(const Cell& cell, const machine::Profile& profile, machine::Link link);

/// A message whose full path was predicted from a profile and then measured.
struct HeldOut {
    Cell cell;
    Seconds predicted = 0, measured = 0;

    double error() const; ///< absolute error relative to the measured time
};

/// Draws random cells from a seed: contiguous messages of 1 B to 8 MiB, uniform in the logarithm of
/// the size, and tiles of images of several widths. No image has the row length used in
/// calibrations.
std::vector<Cell> draw_held_out(unsigned seed, int contiguous, int strided);

/// Measures cells, in bursts interleaved over `rounds` rounds, and predicts them from a profile.
///
/// Requires  a profile that has the costs of the link (InvalidTask).
/// Collective over the stopwatch.
std::vector<HeldOut> hold_out(Stopwatch& stopwatch, const std::vector<Cell>& cells,
                              const machine::Profile& profile, machine::Link link, int rounds);

/// A composited frame whose time was predicted and measured.
struct TimedFrame {
    Bytes bytes = 0; ///< size of each rank's image
    Seconds predicted = 0, measured = 0;
    std::int64_t runs = 0; ///< runs that were measured

    /// The measured time, relative to the predicted one; 1 if nothing was predicted.
    double ratio() const { return predicted > 0 ? measured / predicted : 1; }
};

/// Measures Direct-Send on all ranks, with images of `sizes` pixels of four floats, and predicts it
/// from a profile. `reads_all`: ranks can read each other's memory. Each size takes about
/// `duration`.
/// Collective.
std::vector<TimedFrame> time_frames(const Communicator& communicator,
                                    const machine::Profile& profile, bool reads_all,
                                    std::span<const Elements> sizes, Seconds duration);

/// True if a node has more ranks than cores.
bool is_crowded(const machine::Profile& profile, std::span<const int> nodes, bool reads_all);

/// The differences between a profile and this machine, one sentence each: host, cores, MPI, age.
/// Empty if the profile still applies.
///
/// Input     a profile; `here`, the result of describe_machine on this machine now.
std::vector<std::string> differences(const machine::Profile& profile, const machine::Profile& here);

/// Describes how the machine's state, given by a new round trip of the probe, differs from that of
/// the profile; returns "" if the states agree.
std::string difference_of_state(const machine::Profile& profile, Seconds round_trip);

/// True if the two round trips of the probe belong to one state, or if `of_state` is 0 (unknown).
bool is_state(Seconds of_state, Seconds round_trip);

/// The time of a cell on ranks 0 and 1, by default the probe's round trip, measured in one to three
/// milliseconds; other ranks return 0. Collective.
Seconds probe_state(const Communicator& communicator, const Cell& cell = probe());
/// The probe's round trip between two threads of this process.
Seconds probe_threads();

} // namespace sextant::calibrate
