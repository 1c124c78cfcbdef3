// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/model/message_costs.hpp"

namespace sextant::model {

MessageCosts::MessageCosts(const Question& question, const Prices& prices, const Prepared& prepared,
                           Traffic& traffic)
    : question_(question),
      prices_(prices),
      prepared_(prepared),
      work_(question),
      messages_(question),
      traffic_(traffic) {
    if (!shares_memory(question))
        return;
    for (std::size_t rank = 0; rank < question.schedule.size(); ++rank)
        loans_.emplace_back(question.schedule[rank], prepared.dependences[rank]);
}

MessageCosts::Costly MessageCosts::of(StepOfRank send, StepOfRank receive) {
    Message m = messages_.describe(send, receive);
    const bool sees = m.link == machine::Link::same_process;
    m.lent = sees && is_lent(send, receive);
    m.made_there = sees && is_made_there(send, receive);
    return priced(m, send.rank, receive.rank);
}

std::vector<MessageCosts::Costly> MessageCosts::possible(StepOfRank send, StepOfRank receive) {
    Message m = messages_.describe(send, receive);
    std::vector<Costly> all{priced(m, send.rank, receive.rank)};
    if (m.link != machine::Link::same_process)
        return all;
    const Loans& own = loans_[0];
    const bool sends = send.rank == 0;
    m.lent = sends ? own.may_lend(send.step) : !own.uses(receive.step).empty();
    if (m.lent)
        all.push_back(priced(m, send.rank, receive.rank));
    m.made_there = sends ? own.takes_made(send.step) || own.takes_folded(send.step)
                         : !m.lent && is_room(question_.schedule[0], prepared_.dependences[0],
                                              receive.step, question_.element_size, least_room);
    m.lent = false;
    if (m.made_there)
        all.push_back(priced(m, send.rank, receive.rank));
    return all;
}

MessageCosts::Costly MessageCosts::priced(Message m, int from, int to) {
    m.meets = prices_.share_links && !m.lent && !m.made_there && traffic_.takes(from, to);
    const Look key{m.bytes,          m.link, m.layout,     m.sent_block,
                   m.received_block, m.lent, m.made_there, m.meets};
    auto found = costs_.find(key);
    if (found == costs_.end())
        found = costs_.emplace(key, price(m)).first;
    return {&found->second, m.meets};
}

/// A code is written before it is sent. As shares of a copy (docs/measurements.md): to look at all
/// elements, and to write those that are left.
MessageCost MessageCosts::price(const Message& message) const {
    MessageCost cost = prices_.message(message);
    if (!question_.coded)
        return cost;
    constexpr double looking = .4, writing = 1.4;
    const Span pass = work_.copy(message.stands_for, message.stands_for) * looking +
                      work_.copy(message.bytes, message.bytes) * writing;
    for (Span* const part : {&cost.send, &cost.send_processor, &cost.full})
        *part = *part + pass;
    return cost;
}

bool MessageCosts::is_lent(StepOfRank send, StepOfRank receive) const {
    return loans_[static_cast<std::size_t>(send.rank)].may_lend(send.step) &&
           !loans_[static_cast<std::size_t>(receive.rank)].uses(receive.step).empty();
}

/// By kernels or a fold, in memory that is nobody's until the message comes.
bool MessageCosts::is_made_there(StepOfRank send, StepOfRank receive) const {
    const auto to = static_cast<std::size_t>(receive.rank);
    const Loans& sender = loans_[static_cast<std::size_t>(send.rank)];
    const bool computed = sender.takes_made(send.step);
    if (!loans_[to].uses(receive.step).empty() || (!computed && !sender.takes_folded(send.step)))
        return false;
    return is_room(question_.schedule[to], prepared_.dependences[to], receive.step,
                   question_.element_size, computed ? least_promised_room : least_room);
}

} // namespace sextant::model
