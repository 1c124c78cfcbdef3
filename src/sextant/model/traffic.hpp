// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/model/model.hpp"
#include "sextant/model/sharing.hpp"
#include "sextant/schedule/matching.hpp"

#include <optional>
#include <vector>

namespace sextant::model {

/// The messages of a play that are under way on the links of a network, by the steps that send
/// them; none ever where the question has no wires.
class Traffic {
  public:
    /// A message that has left the links.
    struct Left {
        StepOfRank send;
        Seconds time = 0;
    };

    /// Requires  a node for each rank, or none: check_nodes.
    explicit Traffic(const Question& question);

    /// Whether messages between two ranks travel on links.
    bool takes(int from, int to);
    void enter(StepOfRank send, int to, Bytes bytes, Seconds now);
    /// When something happens next; infinity: nothing.
    Seconds next() const;
    /// Lets time pass until then; who has left. Valid until the next call.
    const std::vector<Left>& pass();

  private:
    const Question& question_;
    std::optional<Sharing> sharing_;
    std::vector<StepOfRank> sends_; ///< by the number of the message
    std::vector<Left> left_;
};

} // namespace sextant::model
