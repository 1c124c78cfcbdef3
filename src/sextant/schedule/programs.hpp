// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/program.hpp"

#include <cstddef>
#include <functional>
#include <utility>

namespace sextant {

/// The programs of all ranks, which need not be in memory at once: a function creates each one when
/// it is needed.
class Programs {
  public:
    /// Keeps a reference to the schedule.
    Programs(const Schedule& schedule)
        : ranks_(static_cast<int>(schedule.size())),
          program_([&schedule](int rank) { return schedule[static_cast<std::size_t>(rank)]; }) {}
    Programs(int ranks, std::function<Program(int rank)> program)
        : ranks_(ranks), program_(std::move(program)) {}

    int ranks() const { return ranks_; }
    Program of(int rank) const { return program_(rank); }

  private:
    int ranks_;
    std::function<Program(int rank)> program_;
};

} // namespace sextant
