// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/model/folding_ranks.hpp"

#include "sextant/model/message.hpp"

#include <set>

namespace sextant::model {

FoldingRanks::FoldingRanks(const Question& question) : question_(question) {
    for (int rank = 0; rank < static_cast<int>(question.schedule.size()); ++rank) {
        std::set<int> rounds;
        for (const Step& each : question.schedule[static_cast<std::size_t>(rank)].steps) {
            if (each.verb == Verb::fold)
                rounds.insert(each.round);
        }
        for (const int round : rounds)
            ++count_[{node_of(question, rank), round}];
    }
}

bool FoldingRanks::is_alone(int rank, int round) const {
    return count_.at({node_of(question_, rank), round}) == 1;
}

} // namespace sextant::model
