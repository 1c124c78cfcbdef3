// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/model/traffic.hpp"

#include "sextant/model/message.hpp"

#include <algorithm>
#include <limits>

namespace sextant::model {

Traffic::Traffic(const Question& question) : question_(question) {
    if (question.wires)
        sharing_.emplace(*question.wires);
}

bool Traffic::takes(int from, int to) {
    return sharing_ && sharing_->has_links(node_of(question_, from), node_of(question_, to));
}

void Traffic::enter(StepOfRank send, int to, Bytes bytes, Seconds now) {
    sharing_->start({node_of(question_, send.rank), node_of(question_, to),
                     static_cast<double>(std::max<Bytes>(1, bytes))},
                    now);
    sends_.push_back(send);
}

Seconds Traffic::next() const {
    return sharing_ ? sharing_->next() : std::numeric_limits<Seconds>::infinity();
}

const std::vector<Traffic::Left>& Traffic::pass() {
    left_.clear();
    for (const Arrival& arrival : sharing_->pass())
        left_.push_back({sends_[static_cast<std::size_t>(arrival.message)], arrival.time});
    return left_;
}

} // namespace sextant::model
