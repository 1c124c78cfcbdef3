// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/team.hpp"
#include "sextant/core/operator.hpp"

#include <vector>

namespace sextant {

/// The threads of one rank that share its folds: each combines a stretch of a pass's elements, the
/// caller's thread among them.
class FoldTeam {
  public:
    /// Requires  threads >= 1 (InvalidTask).
    explicit FoldTeam(int threads);

    int threads() const { return team_.size(); }

    /// Operator::fold of a pass, or of a slice of one, with the same bits: elements are combined
    /// each by itself. Throws what `fold` throws on any thread, once all are done.
    /// Requires  a `fold` that several threads may call at once. One caller at a time.
    /// Cost      nothing is allocated.
    void fold(const FoldFunction& fold, FoldFunction::Sources sources, std::byte* to, Bytes size,
              Elements elements, Elements of);

  private:
    Team team_;
    std::vector<std::vector<const std::byte*>> sources_; // by part
};

/// `op` with its folds shared by a team, which must outlive it.
Operator folded_by(FoldTeam& team, Operator op);

} // namespace sextant
