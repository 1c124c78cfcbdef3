// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/message_graph.hpp"
#include "sextant/report/svg.hpp"
#include "sextant/schedule/program.hpp"

#include <string>
#include <vector>

// Key figures, notes and legend of message graphs.
namespace sextant::report {

/// Returns the counts of messages, folds and so on as key figures.
std::vector<KeyFigure> key_figures(const MessageGraph& graph);

/// Returns notes, one per line, on how to read the drawing and on what an aggregated drawing omits.
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
    /// With more messages than this, lines are thin and have no tooltips.
    int most_detailed = 4'000;
    /// With more messages than this, ranks share lanes, messages share arrows, and a note states
    /// this.
    int most_drawn = 20'000;
};

/// Draws a schedule's message graph: one lane per rank, logical time to the right, messages as
/// arrows coloured by round, folds as boxes with their number of operands.
///
/// Time is counted in levels: steps that can run at the same time share a level; a message, fold or
/// copy takes one level. Within a level, a rank's messages are drawn one after another in program
/// order, so that congestion at a receiver is visible. Lines are wider for more elements.
///
/// Input     all ranks' programs; there may be none, and programs may have no steps.
/// Output    SVG that stands alone or inside a page.
/// Requires  a schedule that finishes; otherwise throws std::logic_error naming the waiting ranks.
/// Cost      simulates all ranks; the text stays below about 3 MB for any schedule.
/// Deterministic.
std::string draw(const Schedule& schedule, const DrawOptions& options = {});

} // namespace sextant::report
