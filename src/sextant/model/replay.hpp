// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/model/critical_path.hpp"
#include "sextant/model/link_contention.hpp"
#include "sextant/model/work_costs.hpp"
#include "sextant/schedule/loans.hpp"

#include <limits>
#include <map>
#include <tuple>
#include <vector>

namespace sextant::model {

/// The time of an event that never happens.
inline constexpr Seconds never = std::numeric_limits<Seconds>::infinity();

/// The costs of the messages of a replay. Messages with the same properties are priced once.
class MessageCosts {
  public:
    /// Keeps references to its arguments.
    MessageCosts(const Question& question, const Prices& prices, const PreparedSchedule& prepared,
                 Traffic& traffic);

    /// The cost of a message, and a flag that is true if the message uses shared links.
    struct Costly {
        const MessageCost* cost = nullptr;
        bool meets = false;
    };
    Costly of(StepOfRank send, StepOfRank receive);
    /// Returns all costs that the message may have, given only rank 0's side. With shared memory,
    /// the other side determines whether the message is copied.
    std::vector<Costly> possible(StepOfRank send, StepOfRank receive);

  private:
    Costly priced(Message message, int from, int to);
    bool is_lent(StepOfRank send, StepOfRank receive) const;
    bool is_made_there(StepOfRank send, StepOfRank receive) const;
    MessageCost price(const Message& message) const;

    using MessageKey =
        std::tuple<Bytes, machine::Link, machine::Layout, Bytes, Bytes, bool, bool, bool>;

    const Question& question_;
    const Prices& prices_;
    const PreparedSchedule& prepared_;
    const WorkCosts work_;
    const Messages messages_;
    Traffic& traffic_;
    std::vector<Loans> loans_; ///< by rank, if ranks are threads of one process
    std::map<MessageKey, MessageCost> costs_;
};

/// Replays a schedule on a simulated clock; see critical_path().
Prediction replay(const Question& question, const Prices& prices, const PreparedSchedule& prepared);

} // namespace sextant::model
