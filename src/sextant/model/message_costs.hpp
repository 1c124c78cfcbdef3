// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/model/critical_path.hpp"
#include "sextant/model/traffic.hpp"
#include "sextant/model/work_costs.hpp"
#include "sextant/schedule/loans.hpp"

#include <map>
#include <tuple>
#include <vector>

namespace sextant::model {

/// What the messages of one play cost, each asked for once of those that look alike.
class MessageCosts {
  public:
    /// Keep what it is given alive.
    MessageCosts(const Question& question, const Prices& prices, const Prepared& prepared,
                 Traffic& traffic);

    /// A message, and whether it travels on links that it shares.
    struct Costly {
        const MessageCost* cost = nullptr;
        bool meets = false;
    };
    Costly of(StepOfRank send, StepOfRank receive);
    /// What the message may cost, as far as rank 0 alone decides it: where ranks share memory, the
    /// other side may have it copied or not.
    std::vector<Costly> possible(StepOfRank send, StepOfRank receive);

  private:
    Costly priced(Message message, int from, int to);
    bool is_lent(StepOfRank send, StepOfRank receive) const;
    bool is_made_there(StepOfRank send, StepOfRank receive) const;
    MessageCost price(const Message& message) const;

    using Look = std::tuple<Bytes, machine::Link, machine::Layout, Bytes, Bytes, bool, bool, bool>;

    const Question& question_;
    const Prices& prices_;
    const Prepared& prepared_;
    const WorkCosts work_;
    const Messages messages_;
    Traffic& traffic_;
    std::vector<Loans> loans_; ///< by rank, where ranks are threads of one process
    std::map<Look, MessageCost> costs_;
};

} // namespace sextant::model
