// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>

namespace sextant {

/// Reports the progress of a run, on one rank. On a terminal it rewrites one line; elsewhere (in a
/// log, or under a launcher, whose processes have no terminal) it writes a line every 30 seconds.
class Progress {
  public:
    /// `clock` returns the seconds since an arbitrary point in time.
    explicit Progress(bool speaks, std::FILE* to = stderr,
                      std::function<Seconds()> clock = steady_seconds);
    ~Progress() { clear(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void say(std::string_view what);
    /// Shows "combine 12 of 40, 3 s left", at most ten times per second. The remaining time is
    /// extrapolated from the elapsed time of this part.
    void say(std::string_view part, std::int64_t done, std::int64_t all);
    void clear();

  private:
    static Seconds steady_seconds();

    std::FILE* const to_;
    const std::function<Seconds()> clock_;
    const bool speaks_, terminal_;
    bool shown_ = false;
    std::string part_;
    Seconds part_began_ = 0, said_ = 0, logged_ = 0;
};

} // namespace sextant
