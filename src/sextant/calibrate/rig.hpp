// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/calibrate/programs.hpp"
#include "sextant/calibrate/stopwatch.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/core/memory.hpp"

#include <chrono>
#include <map>

namespace sextant::calibrate {

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
