// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/node_transport.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>

#include <sched.h>

namespace sextant {

namespace {

/// Disables zero-copy, because the transport that carries the messages may itself share memory.
std::vector<Message> copied(std::vector<Message> messages) {
    for (Message& message : messages)
        message.lends = message.free = false;
    return messages;
}

} // namespace

NodeExchange::NodeExchange(NodeNeighbourhood& neighbours, const Communicator& messages,
                           std::vector<Message> all)
    : neighbours_(neighbours),
      messages_(messages),
      near_(neighbours, all),
      far_(messages.open(copied(std::move(all)))),
      routes_(static_cast<std::size_t>(near_.size())) {
    for (int m = 0; m < near_.size(); ++m)
        choose_delivery(m);
}

void NodeExchange::choose_delivery(int m) {
    const Message& message = near_.at(m);
    Route& it = route(m);
    if (!neighbours_.has(message.peer)) {
        it.delivery = Delivery::far;
        return;
    }
    if (!message.sends || near_.shows(m)) {
        it.delivery = Delivery::near;
        return;
    }
    if (it.stage.size() != message.bytes())
        it.stage = neighbours_.memory(message.bytes());
    it.delivery = Delivery::sent;
    if (!neighbours_.shows(it.stage.data(), it.stage.size()) || !near_.lists_shown())
        return;
    it.delivery = Delivery::staged;
    it.blocks = message.blocks;
    near_.place(m, {{it.stage.data(), it.stage.size(), it.stage.size(), 1}});
}

void NodeExchange::place(int m, const std::vector<Blocks>& blocks) {
    near_.place(m, blocks);
    far_->place(m, blocks);
    choose_delivery(m);
}

void NodeExchange::address(int m, int peer, int tag) {
    near_.address(m, peer, tag);
    far_->address(m, peer, tag);
    if (route(m).delivery == Delivery::staged)
        near_.place(m, route(m).blocks);
    choose_delivery(m);
}

/// Runs a step. If it throws PeerFailed because neighbours have left the run, polls for the reason,
/// which the rank that failed first has sent in a message that may arrive a little later.
template <class Step>
auto NodeExchange::with_reason(Step step) {
    try {
        return step();
    } catch (const PeerFailed&) {
        constexpr int looks = 1000;
        Scoping* const scoping = scoping_of(messages_);
        for (int i = 0; scoping && i < looks; ++i) {
            scoping->look();
            sched_yield();
        }
        throw;
    }
}

void NodeExchange::begin() {
    sent_ = 0;
    far_->begin();
    try {
        with_reason([&] { near_.begin(); });
    } catch (...) {
        far_->end();
        throw;
    }
}

void NodeExchange::end() {
    far_->end();
    near_.end();
}

void NodeExchange::abandon() {
    near_.abandon();
    far_->abandon();
}

void NodeExchange::leave() {
    near_.leave();
    far_->leave();
}

void NodeExchange::start(int m) {
    Route& it = route(m);
    if (it.delivery == Delivery::staged)
        copy(near_.at(m).blocks, it.blocks);
    if (it.delivery == Delivery::sent)
        near_.announce(m);
    if (it.delivery == Delivery::far || it.delivery == Delivery::sent)
        far().start(m);
    else
        near_.start(m);
}

void NodeExchange::start_short(int m, Bytes bytes) {
    Route& it = route(m);
    // Only contiguous messages are shortened, so one copy stages them.
    if (it.delivery == Delivery::staged)
        std::copy_n(it.blocks.front().base, bytes, it.stage.data());
    if (it.delivery == Delivery::sent)
        near_.announce(m);
    if (it.delivery == Delivery::far || it.delivery == Delivery::sent)
        far().start_short(m, bytes);
    else
        near_.start_short(m, bytes);
}

void NodeExchange::start_empty(int m) {
    if (route(m).delivery == Delivery::far)
        far().start_empty(m);
    else
        near_.start_empty(m);
}

int NodeExchange::poll(std::span<Completion> completions) {
    const int near = with_reason([&] { return poll_near(completions); });
    return near + poll_far(completions.subspan(static_cast<std::size_t>(near)));
}

/// A receive over the transport between nodes starts only when the sender announces the message.
int NodeExchange::poll_near(std::span<Completion> completions) {
    const int count = near_.poll(completions);
    int kept = 0;
    for (int i = 0; i < count; ++i) {
        const Completion& completion = completions[static_cast<std::size_t>(i)];
        if (completion.bytes == LoanExchange::announced)
            far().start(completion.message);
        else
            completions[static_cast<std::size_t>(kept++)] = completion;
    }
    return kept;
}

int NodeExchange::poll_far(std::span<Completion> completions) {
    if (completions.empty())
        return 0;
    const int count = far_->poll(completions);
    sent_ -= count;
    return count;
}

/// A rank with messages in progress over the transport between nodes must keep polling, so it does
/// not sleep.
void NodeExchange::rest(int idle) {
    constexpr int between_looks = 4096, before_failures = 256, between_failures = 8;
    Scoping* const scoping = scoping_of(messages_);
    if (scoping && idle >= before_failures && idle % between_failures == 0)
        scoping->look();
    if (sent_ == 0)
        return neighbours_.rest(idle);
    sched_yield();
    if (idle % between_looks == 0)
        neighbours_.check_peers();
}

std::unique_ptr<Exchange> NodeTransport::open(std::vector<Message> messages) {
    return std::make_unique<NodeExchange>(*neighbours_, messages_, std::move(messages));
}

std::shared_ptr<Transport> NodeTransport::split(int color, int key) {
    const Communicator part = messages_.split(color, key);
    return part.valid() ? share_nodes(part, sharing_).communicator.handle() : nullptr;
}

SharedNodes share_nodes(const Communicator& communicator, const NodeSharing& sharing) {
    std::string why_not;
    auto neighbours = NodeNeighbourhood::meet(communicator, sharing, why_not);
    if (!neighbours)
        return {communicator, why_not};
    return {
        Communicator(std::make_shared<NodeTransport>(communicator, sharing, std::move(neighbours))),
        ""};
}

} // namespace sextant
