// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/association.hpp"
#include "sextant/schedule/program.hpp"
#include "sextant/schedule/walk.hpp"

#include <vector>

namespace sextant::simulate {

/// Which operands of one rank's folds have been combined, without the operands: the executor's
/// folding, counted.
class Folding {
  public:
    Folding(const Program& program, Association association);

    /// A pass over neighbours: `applications` more of the operator, on each element.
    struct Pass {
        int step = Walk::none;
        int applications = 0;
    };
    /// Combines neighbouring operands of some unfinished fold; none where nothing can be.
    Pass combine_some(const Walk& walk);

    /// Combines the rest of a fold whose operands are all there; how many applications that takes.
    int complete(int step);

  private:
    /// For each operand, where the run that it lies in ends; itself and no more at first.
    struct Fold {
        int step = 0;
        std::vector<std::uint32_t> run_end; ///< by the first operand of a run
        bool finished = false;
    };

    Pass find(Fold& fold, const Walk& walk) const;
    Fold& fold_of(int step);

    const Program& program_;
    const Association association_;
    std::vector<Fold> folds_; ///< in step order
    std::size_t first_unfinished_ = 0;
};

} // namespace sextant::simulate
