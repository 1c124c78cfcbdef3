// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <poll.h>

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

/// Sleeps while a word has a value, but not for long: who would wake this one may have died, or be
/// waiting for it elsewhere. Returns at once where it has another. The word may be in memory that
/// processes share.
void sleep_while(std::atomic<std::uint32_t>& word, std::uint32_t value);
/// Wakes one that sleeps on a word.
void wake_one(std::atomic<std::uint32_t>& word);

/// The cores that a process may run on: fewer than the machine has where it is bound to some.
class Cores {
  public:
    /// Those of the calling thread.
    static Cores available();

    int count() const;
    /// Adds those of another process on the same machine.
    void add(const Cores& other);

  private:
    static constexpr int most = 1024;
    std::array<std::uint64_t, most / 64> mask_{};
};

/// What a rank's place in a machine is to the question whether it is crowded.
struct Seat {
    std::uint64_t host = 0;
    Cores cores;
};

/// Whether the ranks of a host have fewer cores than they are.
bool is_crowded(std::uint64_t host, std::span<const Seat> ranks);

/// Tells whether processes of this host have ended. Where the system does not say, none has.
class ProcessWatch {
  public:
    ProcessWatch() = default;
    ProcessWatch(const ProcessWatch&) = delete;
    ProcessWatch& operator=(const ProcessWatch&) = delete;
    ~ProcessWatch();

    /// Watches one more, by its number on this host. They are known by the order they came in.
    void add(int process);

    bool has_ended(std::size_t which);
    std::optional<std::size_t> first_ended();

  private:
    std::vector<pollfd> processes_; // readable once they have ended
};

} // namespace sextant
