// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/model/model.hpp"

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace sextant::model {

/// What a rank's own work costs on a machine.
class WorkCosts {
  public:
    explicit WorkCosts(const Question& question);

    /// One pass that combines so many operands, two or more, of so many elements; `alone` where no
    /// other rank of the node works at the same time.
    Span fold(Elements elements, int operands, bool alone);
    /// The least that a fold of so many operands may cost, however it is cut into passes: all of
    /// them, and the last.
    struct LeastFold {
        Seconds all = 0, last = 0;
    };
    LeastFold least_fold(Elements elements, int operands);
    /// One run of a kernel that makes so many elements.
    Span compute(int kernel, Elements elements) const;
    /// Moving so many bytes within memory, in pieces of `block` bytes.
    Span copy(Bytes bytes, Bytes block) const;
    /// A compute or copy step.
    Span of(const Program& program, const Step& step) const;

    /// What the profile lacks, and so costs nothing here.
    std::vector<std::string> remarks(const Schedule& schedule) const;

  private:
    double alone_share(Elements elements) const;

    const Question& question_;
    const machine::Work* const operator_;       ///< null where the profile does not know it
    std::vector<const machine::Work*> kernels_; ///< likewise
    std::map<std::tuple<Elements, int, bool>, Span> folds_; // many look alike
};

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
