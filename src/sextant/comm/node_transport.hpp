// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/node_neighbourhood.hpp"

#include <memory>
#include <utility>

namespace sextant {

/// Ranks that read each other's memory within nodes, and send messages between them.
class NodeTransport : public Transport {
  public:
    NodeTransport(Communicator messages, NodeSharing sharing,
                  std::unique_ptr<NodeNeighbourhood> neighbours)
        : messages_(std::move(messages)), sharing_(sharing), neighbours_(std::move(neighbours)) {}

    /// What messages between nodes, and collective calls, go over.
    const Communicator& messages() const { return messages_; }

    int rank() const override { return messages_.rank(); }
    int size() const override { return messages_.size(); }
    bool shares_memory() const override { return false; }
    bool shares_nodes() const override { return true; }
    int node_of_host() const override { return neighbours_->node(); }
    std::string shortage() const override { return neighbours_->shortage(); }
    std::unique_ptr<Exchange> open(std::vector<Message> messages) override;
    Memory memory(Bytes size) override { return neighbours_->memory(size); }
    void barrier() override { messages_.barrier(); }
    void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
        messages_.all_gather(mine, all);
    }
    std::shared_ptr<Transport> split(int color, int key) override;
    std::shared_ptr<Transport> split_for_notices(int color, int key) override {
        return messages_.split(color, key).handle();
    }

  private:
    const Communicator messages_;
    const NodeSharing sharing_;
    const std::unique_ptr<NodeNeighbourhood> neighbours_;
};

} // namespace sextant
