// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/scan/application.hpp"
#include "sextant/scan/expected_times.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace sextant::scan {

/// Whether the boundaries between threads move with what their work turns out to cost, and by which
/// rule a thread that may extend to either side decides.
enum class Boundaries : std::uint8_t {
    fixed,         ///< each thread reduces its share
    moving,        ///< to where the neighbour would need longer for what is left between them
    towards_slower ///< the published rule: towards the neighbour that takes longer an application,
                   ///< or longer than expected
};

/// A value that a thread takes next, and which side of what it has the value lies on.
struct Extension {
    Elements value = 0;
    bool before = false;

    bool operator==(const Extension&) const = default;
};

/// Who reduces which value next, among the threads that share a rank's values: a state machine that
/// knows neither threads nor clock. A run drives it with threads and a real clock, a rehearsal with
/// a simulated one.
///
/// Every thread reduces one segment, whose boundaries move: the first works from left to right, the
/// last from right to left, the others from the middle of their share outwards. After each
/// application a thread extends to one side, while unclaimed values are left at either. Which side
/// is a rule of `Boundaries`; between equals, to where more of its share is left. An application
/// under way counts for what it has taken so far, so that one that lasts is noticed before it ends.
/// Where it is known beforehand that some values take longer than others, values count by the time
/// they are expected to take: in the shares that threads begin with, and in what is left between
/// two. Since values are only ever claimed at the edge of a segment, segments stay whole, and a
/// reduction may be bracketed freely: results depend neither on who stole what nor on what was
/// expected.
///
/// Not synchronised: who drives it with threads holds a lock.
/// Source    Copik, Grosser, Hoefler, Bientinesi, Berkels, IEEE TPDS 33(3), 2022,
///           arXiv:2010.12478
class Stealing {
  public:
    /// Requires  one thread or more; values >= threads.
    Stealing(ExpectedTimes values, int threads, Boundaries boundaries);

    /// The value that a thread begins with, which takes no application.
    Elements start(int thread) const { return at(thread).start; }

    /// What a thread applies the operator to from `now` on; nothing when its segment is final. What
    /// it claimed before ends now.
    std::optional<Extension> next(int thread, Seconds now);

    /// What a thread has claimed; final once it gets nothing more.
    Interval segment(int thread) const { return at(thread).claimed; }

    /// Values that were claimed outside the share they began in.
    Elements stolen() const { return stolen_; }

  private:
    struct Thread {
        Interval share, claimed;
        Elements start = 0;
        Seconds expected = 0, busy = 0;      ///< of what it has applied: foreseen, and taken
        Seconds expected_now = 0, began = 0; ///< of what it is at
        bool working = false;
    };

    const Thread& at(int thread) const { return threads_[static_cast<std::size_t>(thread)]; }
    Interval left_before(int thread) const;
    Interval left_after(int thread) const;
    double pace(int thread, Seconds now) const;
    Seconds need_before(int thread, Seconds now) const;
    Seconds need_after(int thread, Seconds now) const;
    Seconds need(int neighbour, const Interval& left, const Interval& elsewhere, Seconds now) const;
    bool prefers_before(int thread, Seconds now) const;

    const ExpectedTimes expected_;
    std::vector<Thread> threads_;
    const Boundaries boundaries_;
    Elements stolen_ = 0;
};

} // namespace sextant::scan
