// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/shared_inbox.hpp"

#include "sextant/comm/futex.hpp"

namespace sextant {

bool SharedInbox::post(const Note& note) {
    std::uint64_t position = posted_.load(std::memory_order_relaxed);
    while (true) {
        const std::uint64_t free = position / slots * 2;
        const std::uint64_t turn = slot(position).turn.load(std::memory_order_acquire);
        if (turn == free) {
            if (posted_.compare_exchange_weak(position, position + 1, std::memory_order_relaxed))
                break;
        } else if (turn < free) {
            return false; // still holds a note of the lap before
        } else {
            position = posted_.load(std::memory_order_relaxed);
        }
    }
    slot(position).note = note;
    slot(position).turn.store(position / slots * 2 + 1);
    wake();
    return true;
}

bool SharedInbox::empty() {
    const std::uint64_t turn = slot(taken_).turn.load();
    return turn != taken_ / slots * 2 + 1;
}

bool SharedInbox::take(Note& note) {
    if (empty())
        return false;
    note = slot(taken_).note;
    slot(taken_).turn.store((taken_ / slots + 1) * 2, std::memory_order_release);
    ++taken_;
    return true;
}

/// A note is posted, then looked whether its taker sleeps; he says that he sleeps, then looks
/// whether there is a note. In one order of all four, at least one of the two sees the other.
void SharedInbox::wake() {
    if (asleep_.load() == 0)
        return;
    asleep_.store(0);
    wake_one(asleep_);
}

void SharedInbox::sleep() {
    asleep_.store(1);
    if (empty())
        sleep_while(asleep_, 1);
    asleep_.store(0);
}

} // namespace sextant
