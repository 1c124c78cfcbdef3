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

/// One rank's programs that time a cell. Each program repeats the timed operation. A single program
/// takes the time of `repeats` operations. With two programs, the difference of their times is the
/// time of `repeats` operations, so that costs at the start and end of a stream cancel.
struct Timed {
    std::vector<Program> programs; ///< this rank's programs: one, or a shorter and a longer one
    Operator op;
    double repeats = 1;
    /// Regions that this rank rewrites before each run, so that they are not in the other rank's
    /// caches.
    std::vector<Region> fresh;
    std::vector<Kernel> kernels = {}; ///< kernels of its compute steps
    bool exchanges = false; ///< both ranks begin at the same time, because neither waits first
};

/// Builds the programs of a cell. Every message is received before the next round trip or pass
/// begins, because each writes a region that the next one reads; this keeps ranks in step without a
/// barrier.
///
/// A round trip sends `bytes` from rank 0 to rank 1 and one byte back. A stream begins when rank 1
/// signals that it is ready and ends when it signals that it has received everything, so buffering
/// cannot hide time. Passes, kernels and copies run on both ranks at once, as in a schedule, except
/// for cells with `alone`, which run on rank 0 only.
Timed timed(const Cell& cell, int rank);

/// Times cells on a communicator of two ranks, by running them as programs of the executor.
///
/// The measurement is reliable for these reasons. It times the operations of schedules: datatypes
/// are committed and everything is prepared beforehand. Ranks synchronise only by the messages
/// themselves; exchanges begin after a barrier, which is not timed. The first one or two runs of
/// each burst are warm-up and are not counted. Samples in which the operating system preempted a
/// rank are marked. A burst is short, so interleaving the bursts of all cells spreads drift evenly
/// over them. Both ranks begin each burst on separate cores.
class Rig : public Stopwatch {
  public:
    /// The greatest number of samples in a burst.
    static constexpr int most_samples = 8;

    /// `memory`: the memory that the largest cell needs; pages are touched only when a cell needs
    /// them. As in other programs, only buffers of 2 MiB or more are in huge pages. The ranks run
    /// on core `first_core` and the next, counted among the cores that they may use.
    ///
    /// Requires  a communicator of two ranks (std::logic_error).
    /// Collective.
    Rig(Communicator communicator, Bytes memory, int first_core = 0);

    std::vector<Sample> burst(const Cell& cell) override;
    Seconds elapsed() const override { return elapsed_; }

  private:
    using Clock = std::chrono::steady_clock;
    /// Memory with pages of one size.
    struct Area {
        Memory memory;
        Bytes filled = 0;

        void fill_up_to(Bytes bytes);
    };
    struct PreparedSchedule {
        std::vector<Execution> runs;
        std::vector<std::span<std::byte>> fresh;
        double repeats = 1;
        bool exchanges = false;
        Seconds last = 0; ///< time of the last repetition
    };

    PreparedSchedule& prepare(const Cell& cell);
    Execution bound(const Timed& what, const Program& program, PreparedSchedule& prepared);
    Seconds time(Execution& run, const PreparedSchedule& prepared);
    std::vector<Sample> exchange(std::span<const Seconds> own, std::span<const bool> disturbed);

    const Communicator communicator_;
    const Clock::time_point begin_ = Clock::now();
    const int first_core_;
    Area usual_, huge_;
    std::map<Cell, PreparedSchedule> prepared_;
    Seconds elapsed_ = 0;
};

} // namespace sextant::calibrate
