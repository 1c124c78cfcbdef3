// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/model/model.hpp"
#include "sextant/model/sharing.hpp"
#include "sextant/schedule/dependences.hpp"
#include "sextant/schedule/matching.hpp"
#include "sextant/schedule/trace.hpp"

#include <span>
#include <vector>

namespace sextant::model {

/// The wave of each step of a program: how many messages, one after another, its rank must have
/// received before it, or before work that precedes it in the program. Under a window, no fewer
/// than the windows before its round.
std::vector<int> waves_of(const Program& program, const Dependences& dependences);

/// Where the messages of a schedule meet on the links of a network, which they share as `Sharing`
/// says.
class Meetings {
  public:
    /// As if the messages of one wave started at once, and waves did not meet.
    ///
    /// Requires  a question with wires. Throws CannotExpress: fewer nodes given than ranks.
    /// Cost      that of sharing.
    Meetings(const Question& question, const std::vector<std::vector<StepOfRank>>& mates,
             const std::vector<Dependences>& dependences);

    /// As if messages started when they did in a play of the schedule; from the second time on,
    /// halfway between that and when they were taken to start before.
    void start_as(const Trace& played);

    /// How long the message that a step sends is on its way, beside latency.
    Seconds of(StepOfRank send) const {
        return times_[static_cast<std::size_t>(send.rank)][static_cast<std::size_t>(send.step)];
    }

  private:
    void share(std::span<const Travelling> messages, std::span<const StepOfRank> sends);

    Sharing sharing_;
    std::vector<Travelling> messages_;
    std::vector<StepOfRank> sends_;           ///< of each message
    bool played_ = false;                     ///< whether messages have starts
    std::vector<std::vector<Seconds>> times_; ///< of steps that send, by rank
};

} // namespace sextant::model
