// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <poll.h>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace sextant {

/// Hints to the core that this is a spin loop.
inline void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// The number of polls before a rank with a core of its own sleeps: a few hundred microseconds on
/// this processor. Such a rank never yields: if another program shares its core, a yield costs a
/// time slice of milliseconds, while a sleeping rank is woken within some ten microseconds.
int looks_before_sleep();

/// Decides when a rank that shares its core yields instead of sleeping. Yielding to another rank is
/// cheaper than sleeping, but yielding to another program is not.
class Yielding {
  public:
    /// Yields the processor. Returns false, without yielding, if a recent yield took long.
    bool yield();

  private:
    int sleeps_left_ = 0; // number of sleeps before it yields again
};

/// Sleeps while `word` has the given value, but only for a short time, because the process that
/// would wake this one may have died or be waiting for this one elsewhere. Returns at once if the
/// value differs. The word may be in memory shared by processes.
void sleep_while(std::atomic<std::uint32_t>& word, std::uint32_t value);
/// Wakes one thread that sleeps on a word.
void wake_one(std::atomic<std::uint32_t>& word);

/// The cores that a process may run on; fewer than the machine has if its affinity is restricted.
class Cores {
  public:
    /// The cores of the calling thread.
    static Cores available();

    int count() const;
    bool has(int core) const;
    /// Adds the cores of another process on the same machine.
    void add(const Cores& other);
    void add(int core);

    static constexpr int most = 1024;

  private:
    std::array<std::uint64_t, most / 64> mask_{};
};

/// Moves the calling thread to a core; the scheduler may move it again later. Does nothing if the
/// thread may not run there.
void move_to_core(int core);

/// The number of polls after which a rank that waits checks whether another rank shares its core: a
/// few microseconds.
inline constexpr int looks_before_separating = 64;

/// The core on which a rank was last seen to wait.
using LastCore = std::atomic<int>;

/// Separates ranks of one host, of which there are no more than cores. The scheduler often wakes a
/// thread on the core of the thread that woke it, and leaves both there, because each of them
/// sleeps half of the time: an exchange then takes ten times as long.
///
/// Stores the caller's core in `own`. If `has_rank(core)` is true for this core, because another
/// rank was last seen there, moves the caller to a core without ranks, if it may use one.
void separate_ranks(LastCore& own, const std::function<bool(int core)>& has_rank);

/// The host and cores of a rank. Used to detect that a host is oversubscribed.
struct Seat {
    std::uint64_t host = 0;
    Cores cores;
};

/// True if the ranks of a host outnumber their cores.
bool is_crowded(std::uint64_t host, std::span<const Seat> ranks);

/// While this object exists, its thread calls the function repeatedly when it waits for other ranks
/// over MPI. The function must return within microseconds and must not throw.
class WhileWaiting {
  public:
    explicit WhileWaiting(std::function<void()> function);
    WhileWaiting(const WhileWaiting&) = delete;
    WhileWaiting& operator=(const WhileWaiting&) = delete;
    ~WhileWaiting();

    /// Calls the function of this thread, if it has one.
    static void call();

  private:
    std::function<void()> function_;
    WhileWaiting* outer_; // restored at the end
};

/// Detects that processes of this host have ended. Detects nothing if the system does not support
/// this.
class ProcessWatch {
  public:
    ProcessWatch() = default;
    ProcessWatch(const ProcessWatch&) = delete;
    ProcessWatch& operator=(const ProcessWatch&) = delete;
    ~ProcessWatch();

    /// Watches a process, given its process ID on this host. Processes are indexed in the order of
    /// addition.
    void add(int process);

    bool has_ended(std::size_t which);
    std::optional<std::size_t> first_ended();

  private:
    std::vector<pollfd> processes_; // readable once the process has ended
};

} // namespace sextant
