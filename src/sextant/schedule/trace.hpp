// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/schedule/matching.hpp"
#include "sextant/schedule/program.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace sextant {

/// The activity of a rank during a time interval.
enum class Activity : std::uint8_t {
    send,    ///< a message in flight, from start to finish of the step
    receive, ///< same as for `send`
    fold,    ///< combining operands; one event per pass
    copy,
    compute,
    wait ///< idle
};

std::string_view name(Activity activity);

/// The activity of a rank while a step of this verb runs.
Activity activity_of(Verb verb);

/// One activity of one rank. Times count from the start of the run.
struct Event {
    int rank = 0;
    int step = -1; ///< index in the rank's program; -1 for a wait
    Activity activity = Activity::wait;
    int round = 0;
    int peer = -1; ///< rank that a message is sent to or received from
    Elements elements = 0;
    Seconds begin = 0, end = 0;
};

/// The events of a run, whether measured, predicted or simulated.
struct Trace {
    std::vector<Event> events;
    Seconds duration = 0;
    Seconds origin = 0; ///< start of the run on its host's clock
};

/// The offset of a clock from that of rank 0.
struct ClockOffset {
    int first_rank = 0;      ///< lowest rank that uses this clock
    Seconds at = 0;          ///< time of the measurement, on this clock
    Seconds offset = 0;      ///< to be added to this clock to get rank 0's time
    Seconds uncertainty = 0; ///< uncertainty of the offset
};

/// Collects the events of a predicted or simulated run as a trace.
class Timeline {
  public:
    void add(const Program& program, StepOfRank at, Activity activity, Seconds begin, Seconds end);

    /// Returns the trace, sorted by rank and time. Time without a fold, copy or compute step, up to
    /// the end of a rank's last event, is recorded as a wait.
    Trace finish(Seconds duration);

  private:
    std::vector<Event> events_;
};

} // namespace sextant
