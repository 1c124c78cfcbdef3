// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/message_table.hpp"

#include "sextant/schedule/walk.hpp"

namespace sextant {

MessageTable::MessageTable(const Program& program, const Dependences& dependences,
                           const Loans& loans, Bytes element_size)
    : program_(program),
      dependences_(dependences),
      loans_(loans),
      of_step_(program.steps.size(), -1) {
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
        const Step& step = program.steps[i];
        if (!is_message(step.verb))
            continue;
        of_step_[i] = size();
        steps_.push_back(static_cast<int>(i));
        bytes_.push_back(program.bytes_of(step, element_size));
    }
}

std::vector<Message> MessageTable::messages(const Places& places) const {
    const std::vector<int> tags = message_tags(program_);
    std::vector<Message> messages;
    for (int m = 0; m < size(); ++m) {
        const int index = step_of(m);
        const Step& step = program_.steps[static_cast<std::size_t>(index)];
        const bool sends = step.verb == Verb::send;
        const bool lends = sends ? loans_.may_lend(index) : !loans_.uses(index).empty();
        const bool free = !sends && dependences_.needs()[static_cast<std::size_t>(index)] == 0;
        messages.push_back(
            {sends, step.peer, tags[static_cast<std::size_t>(index)], lends, free, {}});
        list_blocks(m, places, messages.back().blocks);
    }
    return messages;
}

void MessageTable::list_blocks(int message, const Places& places, std::vector<Blocks>& to) const {
    to.clear();
    const Step& step = program_.steps[static_cast<std::size_t>(step_of(message))];
    for (const Region& region : program_.regions_of(step))
        to.push_back(places.blocks(region));
}

} // namespace sextant
