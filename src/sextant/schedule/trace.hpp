// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/schedule/matching.hpp"
#include "sextant/schedule/program.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace sextant {

/// What a rank was doing in a stretch of time.
enum class Activity : std::uint8_t {
    send,    ///< a message is on its way: from start to finish of the step
    receive, ///< likewise
    fold,    ///< combining; one event for each pass
    copy,
    compute,
    wait ///< nothing could be done but wait
};

std::string_view name(Activity activity);

/// What a rank does while a step of this verb runs.
Activity activity_of(Verb verb);

/// One stretch of time on one rank. Times count from the start of the run.
struct Event {
    int rank = 0;
    int step = -1; ///< of the rank's program; -1 for a wait
    Activity activity = Activity::wait;
    int round = 0;
    int peer = -1; ///< of a message
    Elements elements = 0;
    Seconds begin = 0, end = 0;
};

/// What happened in a run. What a model predicts or a simulator plays will have the same form.
struct Trace {
    std::vector<Event> events;
    Seconds duration = 0;
    Seconds origin = 0; ///< when the run started, on the clock of its host
};

/// How a clock that times were taken on stands to that of rank 0.
struct ClockOffset {
    int first_rank = 0;      ///< of those that read it
    Seconds at = 0;          ///< when it was asked, on it
    Seconds offset = 0;      ///< what to add to it for the time on rank 0's
    Seconds uncertainty = 0; ///< the offset is as good as that
};

/// Gathers what ranks do in a run that was predicted or simulated, in the form of a measured trace.
class Timeline {
  public:
    void add(const Program& program, StepOfRank at, Activity activity, Seconds begin, Seconds end);

    /// The trace of a run of this duration: by rank and time, with waits where a rank neither
    /// folds, copies nor computes before it is done.
    Trace finish(Seconds duration);

  private:
    std::vector<Event> events_;
};

} // namespace sextant
