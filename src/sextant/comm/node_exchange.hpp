// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/loan_exchange.hpp"
#include "sextant/comm/node_neighbourhood.hpp"

#include <memory>
#include <vector>

namespace sextant {

/// Messages of ranks on several nodes: read in the sender's memory within a node, sent between
/// nodes. What a sender keeps where its neighbours do not see it is first copied to where they do,
/// or, where there is no room for that, sent too.
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
    Room room(int m) const override { return near_.room(m); }
    void start_delivered(int m) override { near_.start_delivered(m); }
    int poll(std::span<Completion> completions) override;
    void give_back(int m) override { near_.give_back(m); }
    void copy_loan(int m) override { near_.copy_loan(m); }
    void rest(int idle) override;

  private:
    enum class Way {
        far,    ///< to or from another node
        near,   ///< where both see it
        staged, ///< copied to there first
        sent,   ///< within the node, but for want of room for that as if to another
    };
    struct Route {
        Way way = Way::far;
        Memory stage;
        std::vector<Blocks> blocks; ///< of what is staged
    };

    Route& route(int m) { return routes_[static_cast<std::size_t>(m)]; }
    void choose_way(int m);
    int poll_near(std::span<Completion> completions);
    int poll_far(std::span<Completion> completions);
    /// For a message that is started over it.
    Exchange& far() {
        ++sent_;
        return *far_;
    }

    NodeNeighbourhood& neighbours_;
    LoanExchange near_;
    const std::unique_ptr<Exchange> far_;
    std::vector<Route> routes_; // by message
    int sent_ = 0;              // messages under way over far_
};

} // namespace sextant
