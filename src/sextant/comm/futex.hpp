// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

namespace sextant {

/// Sleeps while a word has a value, but not for long: who would wake this one may have died, or be
/// waiting for it elsewhere. Returns at once where it has another. The word may be in memory that
/// processes share.
void sleep_while(std::atomic<std::uint32_t>& word, std::uint32_t value);
/// Wakes one that sleeps on a word.
void wake_one(std::atomic<std::uint32_t>& word);

} // namespace sextant
