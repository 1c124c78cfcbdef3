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

/// A clock for traces that costs little to read: the processor's counter, where it counts at one
/// rate whatever the processor does, else the steady clock.
class TickClock {
  public:
    /// Begins to count: to be called first. The first of a program takes 2 ms to find out how long
    /// a tick is.
    void restart();
    /// Since then, in ticks. On a processor whose cores' counters differ it may be a little less
    /// than before, on another core.
    std::int64_t ticks() const { return read() - start_; }
    /// When it began, on the steady clock, which all programs of a host share.
    Seconds origin() const {
        return std::chrono::duration<double>(begun_.time_since_epoch()).count();
    }
    /// How long a tick lasted since: by the steady clock itself, where that was long enough.
    Seconds tick() const;

    /// Whether it reads the processor's counter.
    static bool reads_counter();

  private:
    static std::int64_t read();

    Seconds usual_ = 0; // of a tick
    std::int64_t start_ = 0;
    std::chrono::steady_clock::time_point begun_;
};

/// Takes down what one rank does in a run, where that was asked for; else costs next to nothing.
/// Until the run has ended, times of events are in ticks.
class Tracer {
  public:
    /// Keep `program` alive.
    Tracer(const Program& program, int rank, bool on);

    /// A run begins; what was taken down of the one before is dropped.
    void begin();
    /// It has ended, well or not.
    void end();

    /// For `did`: when something begins.
    std::int64_t now() const { return on_ ? clock_.ticks() : 0; }
    /// A step, or a part of it, was under way from `begin` until now.
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

    /// From here on there is nothing to do, until there is something again.
    void idle() {
        if (on_)
            idle_since_ = clock_.ticks();
    }
    void busy() {
        if (on_)
            note_wait();
    }

    /// Of the last run.
    const Trace& trace() const { return trace_; }

  private:
    void note(int step, std::int64_t begin);
    void note_wait();
    void add(Event event, std::int64_t begin);

    const Program& program_;
    const int rank_;
    const bool on_;
    TickClock clock_;
    std::vector<std::int64_t> started_at_; // messages, by step
    std::int64_t idle_since_ = 0;
    Trace trace_;
};

/// A clock as those who read it know it.
struct HostClock {
    std::uint64_t identity = 0; ///< equal for ranks that read the same one
    std::function<Seconds()> now;

    /// The steady clock of this host.
    static HostClock steady();
};

/// Asks what time it is: the first rank on each clock that is not rank 0's sends rank 0 messages
/// that come back with its time; of the shortest round trip the middle is when that was read.
///
/// Output    by clock, in the order of their first ranks, the same on every rank; rank 0's is the
///           first, with offset 0; uncertain by half of the shortest round trip. A clock that ran
///           backwards in every round trip has no finite uncertainty.
/// Collective.
/// Cost      `trips` round trips for each clock, one clock after another; nothing for a single one.
/// Source    Cristian, Distributed Computing 3, 1989, doi:10.1007/BF01784024
std::vector<ClockOffset> clock_offsets(const Communicator& communicator, const HostClock& clock,
                                       int trips = 64);

/// What to add to a time of a clock that was asked twice, once long after the other, for that of
/// rank 0: offset and drift. Asked at nearly the same time, which tells nothing of drift, the
/// better of both offsets.
Seconds correction(const ClockOffset& before, const ClockOffset& after, Seconds time);

} // namespace sextant
