// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/model/model.hpp"

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace sextant::model {

/// The costs of a rank's own work on a machine.
class WorkCosts {
  public:
    explicit WorkCosts(const Question& question);

    /// Returns the cost of one pass that combines `operands` (two or more) operands of `elements`
    /// elements each. `alone`: true if no other rank of the node works at the same time.
    Span fold(Elements elements, int operands, bool alone);
    /// Lower bounds on the cost of a fold, however it is divided into passes: `all` for all passes
    /// together, `last` for the last pass.
    struct LeastFold {
        Seconds all = 0, last = 0;
    };
    LeastFold least_fold(Elements elements, int operands);
    /// Returns the cost of one run of a kernel that computes `elements` elements.
    Span compute(int kernel, Elements elements) const;
    /// Returns the cost of a copy within memory, in pieces of `block` bytes.
    Span copy(Bytes bytes, Bytes block) const;
    /// Returns the cost of a compute or copy step.
    Span of(const Program& program, const Step& step) const;

    /// Returns remarks about operators, kernels and copies whose costs the profile lacks. They are
    /// assumed to take no time.
    std::vector<std::string> remarks(const Schedule& schedule) const;

  private:
    double alone_share(Elements elements) const;

    const Question& question_;
    const machine::Work* const operator_;       ///< null if not in the profile
    std::vector<const machine::Work*> kernels_; ///< null for a kernel not in the profile
    /// Costs already computed by fold(), keyed by its arguments.
    std::map<std::tuple<Elements, int, bool>, Span> folds_;
};

/// Counts the ranks of each node that fold in each round of a schedule.
class FoldingRanks {
  public:
    explicit FoldingRanks(const Question& question);

    /// True if this rank folds in the round, but no other rank of its node does.
    bool is_alone(int rank, int round) const;

  private:
    const Question& question_;
    std::map<std::pair<int, int>, int> count_; ///< number of folding ranks, by node and round
};

/// The node with the most ranks per core.
struct Oversubscription {
    int ranks = 0, cores = 0;
    /// True if there are more ranks than cores, so that ranks take turns.
    bool takes_turns() const { return cores > 0 && ranks > cores; }
};

/// Finds the node with the most ranks per core. If `nodes` is empty, threads share one node and
/// other ranks have a node each. `cores` is 0 if the profile does not give the number per node.
Oversubscription crowd_of(const machine::Profile& machine, std::span<const int> nodes, int ranks,
                          machine::Link within_node);

/// Assigns cores to ranks on nodes that have more ranks than cores: the rank that is ready first
/// gets the next free core.
class CoreQueue {
  public:
    explicit CoreQueue(const Question& question);

    /// Returns the time at which a rank, ready at time `ready`, starts work of duration `cost`: at
    /// once if there are enough cores.
    Span begin(int rank, const Span& ready, const Span& cost);

  private:
    using Node = std::vector<Span>; ///< by core: time from which it is free

    std::vector<int> node_; ///< node by rank; empty if no node is oversubscribed
    std::vector<Node> nodes_;
};

} // namespace sextant::model
