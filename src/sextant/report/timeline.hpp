// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/trace.hpp"

#include <string>

namespace sextant::report {

struct TimelineOptions {
    std::string title = "Timeline";
    std::string subtitle;
    /// With more events than this, neighbours that differ by less than can be seen are one bar, and
    /// the picture says so.
    int most_drawn = 10'000;
};

/// The picture of what ranks did when: a lane a rank, time to the right, above the line the
/// messages on their way and below it the work and the waiting.
///
/// Input     the events of all ranks in any order, their times on one clock, or what is to
///           pass for one. No events give a picture too.
/// Output    SVG that stands alone or inside a page. Above 256 ranks neighbours share a lane, and
///           the picture says so.
/// Requires  events of ranks below `ranks`, times that are finite and no event that ends before it
///           begins; otherwise throws std::logic_error naming the event.
/// Deterministic.
std::string timeline(const Trace& trace, int ranks, const TimelineOptions& options = {});

} // namespace sextant::report
