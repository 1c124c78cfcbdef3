// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <poll.h>

namespace sextant {

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
