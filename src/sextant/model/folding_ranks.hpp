// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/model/model.hpp"

#include <map>
#include <utility>

namespace sextant::model {

/// How many ranks of each node fold in each round of a schedule.
class FoldingRanks {
  public:
    explicit FoldingRanks(const Question& question);

    /// Whether no other rank of its node folds in the round, in which this one does.
    bool is_alone(int rank, int round) const;

  private:
    const Question& question_;
    std::map<std::pair<int, int>, int> count_; ///< by node and round
};

} // namespace sextant::model
