// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/calibrate/cell.hpp"
#include "sextant/core/units.hpp"

#include <array>
#include <vector>

namespace sextant::calibrate {

/// One repetition of a cell, by the clocks of the two ranks.
struct Sample {
    std::array<Seconds, 2> seconds = {};
    bool disturbed = false; ///< another program took the processor from either rank meanwhile
};

/// What times cells: two ranks of a communicator (rig.hpp), or in tests a machine whose true costs
/// are known.
class Stopwatch {
  public:
    virtual ~Stopwatch() = default;

    /// Some repetitions of a cell, one after another, after those that warm up. Collective; both
    /// ranks get the same samples.
    virtual std::vector<Sample> burst(const Cell& cell) = 0;
    /// Time since the beginning, as of the last burst: the same on both ranks.
    virtual Seconds elapsed() const = 0;
};

} // namespace sextant::calibrate
