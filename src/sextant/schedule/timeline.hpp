// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/matching.hpp"
#include "sextant/schedule/program.hpp"
#include "sextant/schedule/trace.hpp"

namespace sextant {

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
