// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/neighbourhood.hpp"

#include <array>
#include <atomic>
#include <cstdint>

namespace sextant {

/// Notes for one rank, in memory that other processes have mapped: several post, one takes. Notes
/// come out in the order in which they went in, over all who post. Its bytes are all zero at first,
/// wherever it is mapped.
class SharedInbox {
  public:
    /// False, and nothing posted, where it is full.
    bool post(const Note& note);
    /// False where there is none.
    bool take(Note& note);
    /// Ends a sleep.
    void wake();
    /// Sleeps until something is posted or somebody wakes it, but not for long: who would post may
    /// have died.
    void sleep();

  private:
    static constexpr std::uint64_t slots = 2048;
    /// Of a lap through the slots: 2 lap when free for it, 2 lap + 1 when filled in it.
    struct alignas(64) Slot {
        std::atomic<std::uint64_t> turn;
        Note note;
    };
    static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

    Slot& slot(std::uint64_t position) { return slots_[position % slots]; }
    bool empty();

    alignas(64) std::atomic<std::uint64_t> posted_; // positions given to posters
    alignas(64) std::uint64_t taken_;               // of the owner
    alignas(64) std::atomic<std::uint32_t> asleep_;
    std::array<Slot, slots> slots_;
};

} // namespace sextant
