// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <chrono>
#include <cstdint>

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

} // namespace sextant
