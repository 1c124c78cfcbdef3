// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

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

} // namespace sextant
