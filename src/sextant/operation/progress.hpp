// SPDX-License-Identifier: BSD-3-Clause
#pragma once

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
    void clear();

  private:
    bool shown_ = false;
    const bool speaks_;
};

} // namespace sextant::operation
