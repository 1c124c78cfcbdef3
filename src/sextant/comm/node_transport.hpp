// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/node_neighbourhood.hpp"
#include "sextant/comm/scope.hpp"
#include "sextant/comm/shared_memory_exchange.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace sextant {

/// Messages between ranks on several nodes: within a node the receiver reads the sender's memory in
/// place, and between nodes messages are sent. Data in memory that neighbours cannot access is
/// first copied to shared memory or, if there is no space, sent as a message.
class NodeExchange : public Exchange {
  public:
    NodeExchange(NodeNeighbourhood& neighbours, const Communicator& messages,
                 std::vector<Message> all);

    bool lends(int m) const override { return near_.lends(m); }
    void place(int m, const std::vector<Blocks>& blocks) override;
    void address(int m, int peer, int tag) override;

    void begin() override;
    void end() override;
    void abandon() override;
    void leave() override;
    void start(int m) override;
    void start_short(int m, Bytes bytes) override;
    void start_empty(int m) override;
    ReceiveBuffer room(int m) const override { return near_.room(m); }
    void start_delivered(int m) override { near_.start_delivered(m); }
    int poll(std::span<Completion> completions) override;
    void give_back(int m) override { near_.give_back(m); }
    void copy_loan(int m) override { near_.copy_loan(m); }
    void rest(int idle) override;

  private:
    template <class Step>
    auto with_reason(Step step);

    enum class Delivery {
        far,    ///< to or from another node
        near,   ///< in shared memory
        staged, ///< copied to shared memory first
        sent,   ///< within the node, but sent as a message for lack of shared memory
    };
    struct Route {
        Delivery delivery = Delivery::far;
        Memory stage;
        std::vector<Blocks> blocks; ///< original blocks of a staged message
    };

    Route& route(int m) { return routes_[static_cast<std::size_t>(m)]; }
    void choose_delivery(int m);
    int poll_near(std::span<Completion> completions);
    int poll_far(std::span<Completion> completions);
    /// Returns the transport between nodes, and counts one more message in progress over it.
    Exchange& far() {
        ++sent_;
        return *far_;
    }

    NodeNeighbourhood& neighbours_;
    const Communicator messages_;
    LoanExchange near_;
    const std::unique_ptr<Exchange> far_;
    std::vector<Route> routes_; // indexed by message
    int sent_ = 0;              // messages in progress over far_
};

/// A transport for ranks that read each other's memory within nodes, and send messages between
/// nodes.
class NodeTransport : public Transport, public Scoping {
  public:
    NodeTransport(Communicator messages, NodeSharing sharing,
                  std::shared_ptr<NodeNeighbourhood> neighbours)
        : messages_(std::move(messages)), sharing_(sharing), neighbours_(std::move(neighbours)) {}

    /// The communicator for messages between nodes and collective calls.
    const Communicator& messages() const { return messages_; }

    int rank() const override { return messages_.rank(); }
    int size() const override { return messages_.size(); }
    bool shares_memory() const override { return false; }
    bool shares_nodes() const override { return true; }
    int node_of_host() const override { return neighbours_->node(); }
    std::string shortage() const override { return neighbours_->shortage(); }
    std::unique_ptr<Exchange> open(std::vector<Message> messages) override;
    Memory memory(Bytes size) override { return neighbours_->memory(size); }
    std::unique_ptr<LibraryOperation> library_operation(const LibraryTask& task) override {
        return messages_.handle()->library_operation(task);
    }
    void barrier() override { messages_.barrier(); }
    void all_gather(std::span<const std::byte> own, std::span<std::byte> all) override {
        messages_.all_gather(own, all);
    }
    std::shared_ptr<Transport> split(int color, int key) override;
    std::shared_ptr<Transport> split_for_notices(int color, int key) override {
        return messages_.split(color, key).handle();
    }

    /// Objects share the neighbourhood: after a failure in a run, none of them can be used.
    std::shared_ptr<Transport> make_scope(const std::string& what, RunsOf) override {
        return std::make_shared<NodeTransport>(scope_of(messages_, what), sharing_, neighbours_);
    }
    void fail(const std::string& text) override { sextant::fail(messages_, text); }
    void look() override {
        if (Scoping* const scoping = scoping_of(messages_))
            scoping->look();
    }
    void begin_run() override {
        if (Scoping* const scoping = scoping_of(messages_))
            scoping->begin_run();
    }
    void end_run() override {
        if (Scoping* const scoping = scoping_of(messages_))
            scoping->end_run();
    }

  private:
    const Communicator messages_;
    const NodeSharing sharing_;
    const std::shared_ptr<NodeNeighbourhood> neighbours_;
};

} // namespace sextant
