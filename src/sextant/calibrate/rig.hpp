// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/calibrate/cells.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/core/operator.hpp"
#include "sextant/schedule/program.hpp"

#include <chrono>
#include <map>
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

/// Times cells on a communicator of two ranks, by running them as programs of the executor.
///
/// Why the measurement is right: what is timed is what schedules run, so datatypes are committed
/// and everything is made ready before; ranks wait for each other by the messages themselves; two
/// runs of every burst warm up and are not counted; samples are marked in which the kernel took the
/// processor away; and a burst is short, so that whoever interleaves bursts of all cells spreads
/// drift over all. Both ranks begin each burst on cores of their own.
class Rig : public Stopwatch {
  public:
    /// The most that a burst has.
    static constexpr int most_samples = 8;

    /// `memory`: as much as the largest cell needs, taken as cells need it. The ranks begin on core
    /// `first_core` and the next, counted among those that they may run on.
    /// Requires  a communicator of two ranks (std::logic_error). Collective.
    Rig(Communicator communicator, Bytes memory, int first_core = 0);

    std::vector<Sample> burst(const Cell& cell) override;
    Seconds elapsed() const override { return elapsed_; }

  private:
    using Clock = std::chrono::steady_clock;
    struct Prepared {
        std::vector<Execution> runs;
        std::vector<std::span<std::byte>> fresh;
        double repeats = 1;
        Seconds last = 0; ///< how long a repetition took
    };

    Prepared& prepare(const Cell& cell);
    Execution bound(const Timed& what, const Program& program, Prepared& prepared);
    Seconds time(Execution& run, const Prepared& prepared);
    void fill_up_to(Bytes bytes);
    std::vector<Sample> exchange(std::span<const Seconds> mine, std::span<const bool> disturbed);

    const Communicator communicator_;
    const Clock::time_point begin_ = Clock::now();
    const int first_core_;
    Memory memory_;
    Bytes filled_ = 0;
    std::map<Cell, Prepared> prepared_;
    Seconds elapsed_ = 0;
};

} // namespace sextant::calibrate
