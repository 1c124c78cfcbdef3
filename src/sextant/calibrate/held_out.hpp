// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/calibrate/stopwatch.hpp"
#include "sextant/machine/profile.hpp"

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

} // namespace sextant::calibrate
