// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/node_transport.hpp"

#include "sextant/comm/node_exchange.hpp"

namespace sextant {

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
