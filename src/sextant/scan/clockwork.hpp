// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/scan/application.hpp"
#include "sextant/schedule/dependences.hpp"
#include "sextant/schedule/program.hpp"

#include <functional>
#include <span>
#include <vector>

namespace sextant::scan {

/// Plays a schedule of a scan by a simulated clock, as the executor would: a rank does one
/// application at a time, in the order in which they become possible, and takes messages between
/// two of them. Messages and copies take no time: the operator is what costs.
///
/// Built once for a schedule, played as often as liked.
/// Requires  a schedule that `prove` accepts, whose elements are runs of a series.
class Clockwork {
  public:
    explicit Clockwork(Schedule schedule);

    struct Input {
        /// Which values of the series an element of a rank's input holds.
        std::function<Interval(int rank, Elements element)> given;
        std::vector<Seconds> starts; ///< when each rank begins; empty: all at 0
        OperatorTime time;
        /// Called for every application; may be empty.
        std::function<void(int rank, const Application& what, Seconds begin, Seconds end)> note;
    };

    /// When each rank has done its last step.
    std::vector<Seconds> play(const Input& input) const;

    int ranks() const { return static_cast<int>(schedule_.size()); }

  private:
    class Play;

    const Schedule schedule_;
    std::vector<Dependences> dependences_;
    std::vector<std::vector<int>> tags_;
};

} // namespace sextant::scan
