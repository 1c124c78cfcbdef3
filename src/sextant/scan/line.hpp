// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/builder.hpp"

namespace sextant::scan {

/// One rank's line in a prefix circuit: what it gives to other lines, and takes from them. Every
/// value that a line makes lies in a slot of its own, so none is overwritten while it is still
/// being sent, and no application waits for a send.
///
/// Other ranks may be named that do not exist, below 0 or from `ranks` on: nothing is given to
/// them and nothing taken, so that circuits need not look where they end.
class Line {
  public:
    /// Writes into `builder`; rounds are counted from `first_round`.
    Line(ProgramBuilder& builder, int ranks, int rank, int first_round = 0)
        : builder_(builder), ranks_(ranks), rank_(rank), first_round_(first_round) {}

    int ranks() const { return ranks_; }
    int rank() const { return rank_; }
    bool exists(int rank) const { return rank >= 0 && rank < ranks_; }

    /// A label for what follows.
    void round(int round) { builder_.round(first_round_ + round); }

    void give(int to, const Region& value);
    /// What a rank gives, as large as a value `like` it; nothing from a rank that does not exist.
    Region receive(int from, const Region& like);
    /// before ⊕ after.
    Region combine(const Region& before, const Region& after);
    /// What a rank gives ⊕ value; the value itself where the rank does not exist.
    Region take(int from, const Region& value);

  private:
    ProgramBuilder& builder_;
    const int ranks_, rank_, first_round_;
};

} // namespace sextant::scan
