// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/tick_clock.hpp"
#include "sextant/schedule/trace.hpp"

#include <cstdint>
#include <vector>

namespace sextant {

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

} // namespace sextant
