// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/svg.hpp"
#include "sextant/schedule/matching.hpp"
#include "sextant/schedule/program.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sextant::report {

/// The logical time of the steps of a schedule. Steps at level 0 can run immediately; steps at
/// level n + 1 can run after those at level n.
struct Levels {
    int count = 0;
    std::vector<std::vector<int>> of; ///< by rank and step
};

/// Simulates all ranks, with each step as early as possible. Each message, fold and copy takes one
/// level; a message is transferred when both sides are ready. A rank can send and receive any
/// number of messages at the same time.
///
/// Input     all ranks' programs, and `mates` from match_messages().
/// Requires  a schedule that terminates; otherwise throws std::logic_error naming the waiting
///           ranks.
Levels levels(const Schedule& schedule, const std::vector<std::vector<StepOfRank>>& mates);

/// A message or, in an aggregated graph, all messages between two lanes at about the same time.
struct Arrow {
    int from = 0, to = 0; ///< lanes
    int column = 0;
    int level = 0;
    int round = 0; ///< lowest round of the messages
    std::int64_t messages = 1;
    Elements elements = 0;
    StepOfRank send, receive; ///< steps of the first message
};

/// A fold, copy or computation or, in an aggregated graph, all such steps of one lane at about the
/// same time.
struct Box {
    int lane = 0, column = 0, level = 0;
    Verb verb = Verb::fold;
    int round = 0;
    std::int64_t steps = 1;
    int operands = 0; ///< highest number of operands of a step
    StepOfRank step;  ///< the first step
};

/// The content of a drawing of a message graph: lanes one below another, columns of time side by
/// side.
///
/// The k-th send of a rank at a level is in the k-th column of the level, and so is its k-th
/// operation. Therefore, many messages to the same rank at the same time are visible as such.
struct MessageGraph {
    int ranks = 0, lanes = 0, ranks_per_lane = 1;
    int columns = 0, merged_columns = 1; ///< `merged_columns` columns of time are drawn as one
    std::vector<int> level_begins;       ///< first column of each level
    int rounds = 0;

    std::vector<Arrow> arrows; ///< ordered by column, then lanes
    std::vector<Box> boxes;

    std::int64_t messages = 0, folds = 0, copies = 0, computations = 0;
    Elements moved = 0;

    int levels() const { return static_cast<int>(level_begins.size()); }
    bool aggregated() const { return ranks_per_lane > 1 || merged_columns > 1; }
};

/// Returns a graph with one arrow per message and one box per fold, copy or computation.
/// Requires  a schedule that terminates; otherwise throws std::logic_error naming the waiting
///           ranks.
MessageGraph message_graph(const Schedule& schedule);

/// Merges neighbouring ranks into lanes and merges neighbouring columns, until there are at most
/// `most_lanes` lanes, `most_arrows` arrows and `most_arrows` boxes. Columns of different levels
/// are merged only if there are many levels. A message between two ranks of the same lane is an
/// arrow from the lane to itself.
MessageGraph aggregated(const MessageGraph& graph, std::size_t most_arrows, int most_lanes);

/// Describes a step: "rank 3, step 5: send to rank 1, round 0, group 0, 512 elements", then one
/// line for each of its first eight regions.
std::string describe(const Schedule& schedule, StepOfRank at);

/// Returns the numbers of messages, folds and other steps as key figures.
std::vector<KeyFigure> key_figures(const MessageGraph& graph);

/// Returns notes, one per line, on how to read the drawing and on the details that an aggregated
/// drawing omits.
std::vector<std::string> notes_on(const MessageGraph& graph);

/// The colours of a schedule's rounds: style classes and legend.
class RoundColours {
  public:
    explicit RoundColours(int rounds) : rounds_(rounds) {}

    /// Returns the style class whose stroke is the round's colour.
    std::string class_of(int round) const;
    void add_styles(Svg& svg) const;
    /// Returns one entry per round, or a colour ramp if there are many.
    std::vector<LegendEntry> legend() const;

  private:
    int rounds_;
};

struct DrawOptions {
    std::string title = "Message graph";
    std::string subtitle;
    /// With more messages, lines are thin and have no tooltips.
    int most_detailed = 4'000;
    /// With more messages, ranks share lanes, messages share arrows, and a note states this.
    int most_drawn = 20'000;
};

/// Draws the message graph of a schedule: one lane per rank, logical time to the right, messages as
/// arrows coloured by round, folds as boxes with their number of operands.
///
/// Time is counted in levels. Steps that can run at the same time share a level; a message, fold or
/// copy takes one level. Within a level, the messages of a rank are drawn one after another in
/// program order, so that congestion at a receiver is visible. Line widths increase with the number
/// of elements.
///
/// Input     all ranks' programs; there may be none, and programs may be empty.
/// Output    SVG that can be used alone or in a page.
/// Requires  a schedule that terminates; otherwise throws std::logic_error naming the waiting
///           ranks.
/// Cost      simulates all ranks; the text is smaller than about 3 MB for any schedule.
/// Deterministic.
std::string draw(const Schedule& schedule, const DrawOptions& options = {});

} // namespace sextant::report
