// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/core/units.hpp"
#include "sextant/schedule/trace.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace sextant {

/// A cheap clock for traces: the processor's time stamp counter if it runs at a constant rate, else
/// the steady clock.
class TickClock {
  public:
    /// Starts the clock; must be called first. The first call in a process takes 2 ms for
    /// calibration.
    void restart();
    /// Ticks since restart(). May decrease slightly on a processor whose cores' counters differ.
    std::int64_t ticks() const { return read() - start_; }
    /// The time of restart() on the steady clock, which is common to all processes of a host.
    Seconds origin() const {
        return std::chrono::duration<double>(begun_.time_since_epoch()).count();
    }
    /// The mean length of a tick since restart(), measured by the steady clock; the calibrated
    /// length if too little time has passed.
    Seconds tick() const;

    /// True if this clock reads the processor's counter.
    static bool reads_counter();

  private:
    static std::int64_t read();

    Seconds usual_ = 0; // calibrated length of a tick
    std::int64_t start_ = 0;
    std::chrono::steady_clock::time_point begun_;
};

/// Records the events of one rank in a run, if tracing is on; otherwise costs almost nothing. Times
/// of events are in ticks until the run has ended.
class Tracer {
  public:
    /// Keeps a reference to `program`.
    Tracer(const Program& program, int rank, bool on);

    /// Starts a run, discarding the previous trace.
    void begin();
    /// Ends the run, successful or not.
    void end();

    /// The current time, to be passed to `did` as the start of an event.
    std::int64_t now() const { return on_ ? clock_.ticks() : 0; }
    /// Records that a step, or a part of it, was in progress from `begin` until now.
    void did(int step, std::int64_t begin) {
        if (on_)
            note(step, begin);
    }

    void message_started(int step) {
        if (on_)
            started_at_[static_cast<std::size_t>(step)] = clock_.ticks();
    }
    void message_completed(int step) {
        if (on_)
            note(step, started_at_[static_cast<std::size_t>(step)]);
    }

    /// Marks the start of an idle period, which `busy` ends.
    void idle() {
        if (on_)
            idle_since_ = clock_.ticks();
    }
    void busy() {
        if (on_)
            note_wait();
    }

    /// The trace of the last run.
    const Trace& trace() const { return trace_; }

  private:
    void note(int step, std::int64_t begin);
    void note_wait();
    void add(Event event, std::int64_t begin);

    const Program& program_;
    const int rank_;
    const bool on_;
    TickClock clock_;
    std::vector<std::int64_t> started_at_; // start times of messages, by step
    std::int64_t idle_since_ = 0;
    Trace trace_;
};

/// A clock and its identity.
struct HostClock {
    std::uint64_t identity = 0; ///< equal for ranks that read the same clock
    std::function<Seconds()> now;

    /// The steady clock of this host.
    static HostClock steady();
};

/// Measures the offsets of all clocks relative to rank 0's clock. For each of the other clocks, the
/// lowest rank that uses the clock repeatedly requests the time of rank 0; the reply is assigned to
/// the middle of the shortest round trip.
///
/// Output    one offset per clock, ordered by the clocks' lowest ranks, the same on every rank.
///           Rank 0's clock is the first, with offset 0. The uncertainty is half of the shortest
///           round trip; it is infinite for a clock that ran backwards in every round trip.
/// Collective.
/// Cost      `trips` round trips for each clock, one clock after another; nothing for a single
///           clock.
/// Source    Cristian, Distributed Computing 3, 1989, doi:10.1007/BF01784024
std::vector<ClockOffset> clock_offsets(const Communicator& communicator, const HostClock& clock,
                                       int trips = 64);

/// Returns the correction to add to a clock's time to get rank 0's time, from the offset and drift
/// given by two measurements. If these were too close in time to determine the drift, returns the
/// more precise offset.
Seconds correction(const ClockOffset& before, const ClockOffset& after, Seconds time);

} // namespace sextant
