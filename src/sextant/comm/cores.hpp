// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace sextant {

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

} // namespace sextant
