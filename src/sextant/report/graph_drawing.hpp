// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/message_graph.hpp"
#include "sextant/report/svg.hpp"
#include "sextant/schedule/program.hpp"

#include <string>
#include <vector>

// What is said of a message graph beside its picture.
namespace sextant::report {

/// How many there are of each thing.
std::vector<KeyFigure> key_figures(const MessageGraph& graph);

/// How the picture is to be read, and what an aggregated one leaves out, a line each.
std::vector<std::string> notes_on(const MessageGraph& graph);

/// The colours of a schedule's rounds in a picture: its style classes and its legend.
class RoundColours {
  public:
    explicit RoundColours(int rounds) : rounds_(rounds) {}

    /// The style class whose stroke is the round's colour.
    std::string class_of(int round) const;
    void add_styles(Svg& svg) const;
    /// An entry a round, or one ramp for many.
    std::vector<LegendEntry> legend() const;

  private:
    int rounds_;
};

struct DrawOptions {
    std::string title = "Message graph";
    std::string subtitle;
    /// With more messages than this, lines are thin and nothing shows when pointed at.
    int most_detailed = 4'000;
    /// With more than this, ranks share lanes and messages share arrows, and the picture says so.
    int most_drawn = 20'000;
};

/// The picture of a schedule's message graph: a lane a rank, logical time to the right, messages as
/// arrows coloured by round, folds as boxes with their number of operands.
///
/// Time counts levels: what can happen at once lies in one, and a message, fold or copy takes one.
/// Within a level a rank's messages leave one after another, in the order of its program, so that
/// many meeting at one rank can be seen. Lines are the wider the more elements move.
///
/// Input     all ranks' programs; none, and programs without steps, give a picture too.
/// Output    SVG that stands alone or inside a page.
/// Requires  a schedule that finishes; otherwise throws std::logic_error naming ranks.
/// Cost      walking all ranks; the text stays below some 3 MB however large the schedule.
/// Deterministic.
std::string draw(const Schedule& schedule, const DrawOptions& options = {});

} // namespace sextant::report
