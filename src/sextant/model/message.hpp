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

/// A message as models see it.
struct Message {
    int from = 0, to = 0;
    Bytes bytes = 0;
    Bytes stands_for = 0; ///< size before compression; `bytes` is the size after compression
    machine::Link link = machine::Link::other_node;
    machine::Layout layout = machine::Layout::cc;
    /// The mean length of contiguous pieces at the sender and at the receiver; the whole size if
    /// contiguous.
    Bytes sent_block = 0, received_block = 0;
    /// True if the data is not copied because the ranks share memory and the receiver only reads it
    /// in a fold.
    bool lent = false;
    /// True if the data is not copied because the sender computes it directly in the receiver's
    /// memory.
    bool made_there = false;
    /// True if the message travels on shared links. Its cost then excludes the time on the links,
    /// which depends on the other messages there (`Sharing`).
    bool meets = false;

    /// The shorter of the two block lengths.
    Bytes block() const { return std::min(sent_block, received_block); }
};

/// The bytes of a message as transferred.
Bytes bytes_of(const Question& question, const Program& program, const Step& message);

/// Returns the node of a rank; if no nodes are given, each rank has its own node.
inline int node_of(const Question& question, int rank) {
    return question.nodes.empty() ? rank : question.nodes[static_cast<std::size_t>(rank)];
}

/// True if the two ranks are on different nodes. If no nodes are given, this is true unless the
/// profile's only link class is within a node.
bool joins_nodes(const Question& question, int from, int to);

/// True if ranks may be threads of one process. Messages between threads are not copied if the
/// receiver only folds them.
bool shares_memory(const Question& question);

/// Throws CannotExpress if nodes are given for some ranks only.
void check_nodes(const Question& question);

/// Describes the messages of a question to models.
///
/// Requires  a node for each rank or for none, and a link class for each pair of ranks that
///           communicate (CannotExpress).
class Messages {
  public:
    explicit Messages(const Question& question);
    Message describe(StepOfRank send, StepOfRank receive) const;

  private:
    Elements runs(StepOfRank at) const;

    const Question& question_;
};

/// The costs of a link class. Throws CannotExpress if the profile lacks them.
const machine::LinkCosts& costs_of(const machine::Profile& machine, machine::Link link);

/// The measured curve of a link, path, layout and strategy. Throws CannotExpress, naming these, if
/// the profile lacks it.
const machine::Curve& curve(const Question& question, machine::Link link, machine::Path path,
                            machine::Layout layout, machine::Strategy strategy);

/// Looks up measured costs and records sizes outside the measured range.
class Lookup {
  public:
    explicit Lookup(const Question& question) : question_(question) {}

    /// The time of a message on one path with one layout, by size alone. `strategy` applies to
    /// strided messages.
    Span at_size(const Message& message, machine::Path path, machine::Layout layout,
                 machine::Strategy strategy);
    /// The time of a message on one path, by size and by the shorter of its two block lengths.
    Span at_size_and_block(const Message& message, machine::Path path, machine::Strategy strategy);
    /// The time for a size, interpolated between the given points of the profile.
    Span at_size(const std::vector<machine::Point>& points, Bytes bytes);
    /// Returns a line fitted to the costs of contiguous messages.
    machine::Line line(machine::Link link, machine::Path path) const;

    std::vector<std::string> remarks() const;

  private:
    Span noted(const machine::Estimate& estimate, Bytes bytes);

    const Question& question_;
    Bytes least_ = std::numeric_limits<Bytes>::max(),
          most_ = -1; ///< smallest and largest size outside the measured range
};

/// Evaluates a line at a size.
Span at(const machine::Line& line, Bytes bytes);

/// Adds the remarks of `lookup` to a prediction.
Prediction with_remarks(Prediction prediction, const Lookup& lookup);

} // namespace sextant::model
