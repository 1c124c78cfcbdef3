// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/model/model.hpp"
#include "sextant/model/span.hpp"

#include <vector>

namespace sextant::model {

/// The node with the most ranks for each of its cores.
struct Crowd {
    int ranks = 0, cores = 0;
    /// Whether ranks outnumber the cores, and so take turns.
    bool takes_turns() const { return cores > 0 && ranks > cores; }
};

/// Of ranks of which nothing is said, threads share a node; others have one each. Without cores
/// where the profile does not know how many a node has.
Crowd crowd_of(const machine::Profile& machine, std::span<const int> nodes, int ranks,
               machine::Link within_node);

/// The cores of nodes on which ranks outnumber them: a rank works while it has one, and whoever is
/// ready first has the next that is free.
class Turns {
  public:
    explicit Turns(const Question& question);

    /// When a rank that is ready to work begins, for so long; at once where cores suffice.
    Span begin(int rank, const Span& ready, const Span& cost);

  private:
    using Node = std::vector<Span>; ///< by core: when it is free

    std::vector<int> node_; ///< by rank; empty where no node is crowded
    std::vector<Node> nodes_;
};

} // namespace sextant::model
