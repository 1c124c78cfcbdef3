// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/calibrate/cell.hpp"
#include "sextant/comm/kernel.hpp"
#include "sextant/core/operator.hpp"
#include "sextant/schedule/program.hpp"

#include <vector>

namespace sextant::calibrate {

/// A cell as programs of two ranks. Each program repeats what is timed; a program of a chain or of
/// work takes `repeats` times it, and of two programs the difference does, so that what happens
/// once, at the begin and the end of a stream, drops out.
struct Timed {
    std::vector<Program> programs; ///< of this rank: one, or a shorter and a longer
    Operator op;
    double repeats = 1;
    /// What rank 0 writes anew before each run, so that the other rank's caches do not hold it.
    std::vector<Region> fresh;
    std::vector<Kernel> kernels = {}; ///< of its compute steps
};

/// Every message is received before the next round trip or pass begins, since each writes where the
/// next reads: ranks stay in step without a barrier.
///
/// A round trip brings `bytes` from rank 0 to rank 1 and one byte back. A stream begins when rank 1
/// says that it is there, and ends when it says that it has all: it cannot hide in buffers.
/// Passes, kernels and copies run on both ranks at a time, as in a schedule, but for those of rank
/// 0 alone.
Timed timed(const Cell& cell, int rank);

} // namespace sextant::calibrate
