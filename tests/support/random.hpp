// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace sextant::test {

/// Seeded choices that are the same on every platform (the standard's distributions are not).
class Random {
  public:
    explicit Random(unsigned seed) : engine_(seed) {}

    /// A random number in [low, high].
    std::int64_t between(std::int64_t low, std::int64_t high) {
        return low +
               static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(high - low + 1));
    }
    int number(int low, int high) { return static_cast<int>(between(low, high)); }
    bool chance(int percent) { return between(1, 100) <= percent; }
    /// A random index below `size`, which must be positive.
    std::size_t index(std::size_t size) { return static_cast<std::size_t>(engine_() % size); }
    template <class T>
    const T& pick(const std::vector<T>& from) {
        return from[index(from.size())];
    }
    template <class T>
    void shuffle(std::vector<T>& items) {
        for (std::size_t i = items.size(); i > 1; --i)
            std::swap(items[i - 1], items[index(i)]);
    }

  private:
    std::mt19937_64 engine_;
};

} // namespace sextant::test
