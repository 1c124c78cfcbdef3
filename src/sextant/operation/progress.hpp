// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace sextant::operation {

/// A line that says what is going on: on a terminal only, and by one rank.
class Progress {
  public:
    explicit Progress(bool speaks);
    ~Progress() { clear(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void say(std::string_view what);
    /// "combine 12 of 40, 3 s left": at most ten times a second, the time from how long this part
    /// has taken so far.
    void say(std::string_view part, std::int64_t done, std::int64_t all);
    void clear();

  private:
    bool shown_ = false;
    std::string part_;
    Seconds part_began_ = 0, said_ = 0;
    const bool speaks_;
};

} // namespace sextant::operation
