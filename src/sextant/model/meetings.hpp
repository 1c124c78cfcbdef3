// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/model/model.hpp"
#include "sextant/schedule/dependences.hpp"
#include "sextant/schedule/matching.hpp"

#include <vector>

namespace sextant::model {

/// The wave of each step of a program: how many messages, one after another, its rank must have
/// received before it, or before work that precedes it in the program. Under a window, no fewer
/// than the windows before its round.
std::vector<int> waves_of(const Program& program, const Dependences& dependences);

/// Where the messages of a schedule meet on the links of a network. Those of one wave are taken to
/// be under way at once, and to share links fairly: each is on its way for as long as the busiest
/// of its links needs for all that meet there.
///
/// Requires  a question with wires. Throws CannotExpress: fewer nodes given than ranks.
/// Cost      the links on the ways of all messages.
class Meetings {
  public:
    Meetings(const Question& question, const std::vector<std::vector<StepOfRank>>& mates,
             const std::vector<Dependences>& dependences);

    /// How long the message that a step sends is on its way, beside latency.
    Seconds of(StepOfRank send) const {
        return times_[static_cast<std::size_t>(send.rank)][static_cast<std::size_t>(send.step)];
    }

  private:
    std::vector<std::vector<Seconds>> times_; ///< of steps that send, by rank
};

} // namespace sextant::model
