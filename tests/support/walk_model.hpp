// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "tests/support/footprint.hpp"

namespace sextant::test {

/// The expected state of a traversal, from the definitions in program.hpp: each query tests all
/// pairs of steps.
class WalkModel {
  public:
    explicit WalkModel(const Program& program)
        : program_(program),
          earlier_(earlier_conflicts(program)),
          footprints_(footprints(program)),
          finished_(program.steps.size(), false) {}

    void finish(int step) { finished_[static_cast<std::size_t>(step)] = true; }

    bool may_start(int step) const {
        const auto i = static_cast<std::size_t>(step);
        for (int j : earlier_[i]) {
            if (!finished_[static_cast<std::size_t>(j)])
                return false;
        }
        return !is_message(program_.steps[i].verb) || window_is_open(program_.steps[i].round);
    }

    /// True if no unfinished earlier step writes elements of the region.
    bool readable(std::size_t step, const Region& region) const {
        const auto read = element_set(program_, region);
        for (std::size_t j = 0; j < step; ++j) {
            if (!finished_[j] && footprints_[j].writes.meets(read))
                return false;
        }
        return true;
    }

    /// True if no unfinished earlier step reads or writes the destination.
    bool may_commit(std::size_t step) const {
        const auto to = element_set(program_, program_.steps[step].to);
        for (std::size_t j = 0; j < step; ++j) {
            if (finished_[j])
                continue;
            if (footprints_[j].writes.meets(to))
                return false;
            if (footprints_[j].reads.meets(to))
                return false;
        }
        return true;
    }

  private:
    bool window_is_open(int round) const {
        if (program_.window == 0)
            return true;
        for (std::size_t j = 0; j < program_.steps.size(); ++j) {
            const Step& other = program_.steps[j];
            const bool binds = is_message(other.verb) && other.round <= round - program_.window;
            if (binds && !finished_[j])
                return false;
        }
        return true;
    }

    const Program& program_;
    const std::vector<std::vector<int>> earlier_;
    const std::vector<Footprint> footprints_;
    std::vector<bool> finished_;
};

} // namespace sextant::test
