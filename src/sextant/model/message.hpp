// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/machine/interpolate.hpp"
#include "sextant/machine/profile.hpp"
#include "sextant/model/model.hpp"
#include "sextant/schedule/matching.hpp"

#include <limits>
#include <string>
#include <vector>

namespace sextant::model {

/// What models see of one message.
struct Message {
    int from = 0, to = 0;
    Bytes bytes = 0;
    Bytes stands_for = 0; ///< the bytes of its elements, of which these may be fewer
    machine::Link link = machine::Link::other_node;
    machine::Layout layout = machine::Layout::cc;
    /// The mean length of contiguous pieces at the sender and at the receiver; all where
    /// contiguous.
    Bytes sent_block = 0, received_block = 0;
    /// Whether it is not moved: ranks share memory, and who receives it only folds it.
    bool lent = false;
    /// Whether it is not moved since its sender makes it in the receiver's memory.
    bool made_there = false;
    /// Whether links carry it that others share, and its price is what it costs beside: how long
    /// they need is up to whom it meets there (`Sharing`).
    bool meets = false;

    /// The shorter of the two.
    Bytes block() const { return std::min(sent_block, received_block); }
};

/// The bytes of a message on its way.
Bytes bytes_of(const Question& question, const Program& program, const Step& message);

/// The node on which a rank lies; without nodes given, its own.
inline int node_of(const Question& question, int rank) {
    return question.nodes.empty() ? rank : question.nodes[static_cast<std::size_t>(rank)];
}

/// Whether two ranks lie on different nodes. Ranks of which nothing is said do, unless the profile
/// knows one class of links, and that is another.
bool joins_nodes(const Question& question, int from, int to);

/// Whether some ranks may be threads of one process, which lend what is only folded.
bool shares_memory(const Question& question);

/// Throws CannotExpress unless there is a node for each rank, or for none.
void check_nodes(const Question& question);

/// How the messages of a question look.
///
/// Requires  a node for each rank or for none, and a link class for each pair of ranks that talk
///           (CannotExpress).
class Messages {
  public:
    explicit Messages(const Question& question);
    Message describe(StepOfRank send, StepOfRank receive) const;

  private:
    Elements runs(StepOfRank at) const;

    const Question& question_;
};

/// The costs of a link class. Throws CannotExpress where the profile does not know it.
const machine::LinkCosts& costs_of(const machine::Profile& machine, machine::Link link);

/// One measured cell. Throws CannotExpress naming it where the profile lacks it.
const machine::Curve& curve(const Question& question, machine::Link link, machine::Path path,
                            machine::Layout layout, machine::Strategy strategy);

/// Looks costs up in what was measured and notes sizes that lie outside it.
class Lookup {
  public:
    explicit Lookup(const Question& question) : question_(question) {}

    /// T(n) of one path and layout, by size alone. `strategy` is that of strided messages.
    Span at_size(const Message& message, machine::Path path, machine::Layout layout,
                 machine::Strategy strategy);
    /// By size and by the shorter of the two block lengths.
    Span at_size_and_block(const Message& message, machine::Path path, machine::Strategy strategy);
    /// Of other points of a profile.
    Span at_size(const std::vector<machine::Point>& points, Bytes bytes);
    /// A line through the costs of contiguous messages.
    machine::Line line(machine::Link link, machine::Path path) const;

    std::vector<std::string> remarks() const;

  private:
    Span noted(const machine::Estimate& estimate, Bytes bytes);

    const Question& question_;
    Bytes least_ = std::numeric_limits<Bytes>::max(), most_ = -1; ///< sizes outside
};

/// The same line at a size.
Span at(const machine::Line& line, Bytes bytes);

/// What a model says, with the remarks of its lookups.
Prediction with_remarks(Prediction prediction, const Lookup& lookup);

} // namespace sextant::model
