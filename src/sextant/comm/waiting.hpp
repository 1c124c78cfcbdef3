// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace sextant {

/// Tells the core that this is a waiting loop.
inline void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// How often a rank with a core of its own looks again before it sleeps: some hundred microseconds.
/// It never yields: beside another program that costs a slice of the scheduler, milliseconds, while
/// who sleeps is woken at once.
inline constexpr int looks_before_sleep = 2000;

/// For ranks that share cores: yielding to another rank is cheaper than sleeping, yielding to
/// another program is not.
class Yielding {
  public:
    /// Lets another run. False, and nothing done, where that took long lately.
    bool yield();

  private:
    int sleeps_left_ = 0; // before it is tried again
};

} // namespace sextant
