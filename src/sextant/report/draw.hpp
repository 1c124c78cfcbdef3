// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/program.hpp"

#include <string>

namespace sextant::report {

struct DrawOptions {
    std::string title = "Message graph";
    std::string subtitle;
    /// With more messages than this, lines are thin and nothing shows when pointed at.
    int most_detailed = 4'000;
    /// With more than this, ranks share lanes and messages share arrows, and the picture says so.
    int most_drawn = 20'000;
    /// Round after round stands out, and again from the first; all else is pale meanwhile.
    bool animated = false;
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
