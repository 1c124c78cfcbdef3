// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/report/svg.hpp"

#include <string>
#include <vector>

namespace sextant::report {

/// A stretch of work of one worker.
struct GanttBar {
    int worker = 0;
    int kind = 0; ///< index into the kinds
    Seconds begin = 0, end = 0;
    std::string title; ///< shown where a pointer rests on it
};

struct GanttChart {
    std::string title, subtitle;
    std::vector<std::string> workers;
    std::vector<std::string> kinds; ///< one to four
    std::vector<GanttBar> bars;
    std::vector<KeyFigure> figures;
};

/// Who worked on what, when, as an SVG: a lane a worker, in which what is blank is idle time.
/// Of more workers than can be told apart the first are drawn, and the picture says so.
std::string gantt(const GanttChart& chart);

} // namespace sextant::report
