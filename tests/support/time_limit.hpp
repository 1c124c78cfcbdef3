// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <thread>

namespace sextant::test {

/// Limits the time that a test waits for other threads or processes, so that a fault makes it fail
/// instead of hang. The limit is much longer than a busy machine delays a thread.
class TimeLimit {
  public:
    /// Waits until the condition holds, and returns true; returns false once two minutes have
    /// passed since construction. Thread-safe if the condition is.
    template <class Condition>
    bool wait_until(const Condition& holds) const {
        while (!holds()) {
            if (std::chrono::steady_clock::now() > end_)
                return false;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return true;
    }

  private:
    const std::chrono::steady_clock::time_point end_ =
        std::chrono::steady_clock::now() + std::chrono::minutes(2);
};

} // namespace sextant::test
