// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/report/lanes.hpp"
#include "sextant/report/svg.hpp"

namespace sextant::report {

/// How ticks look.
void add_time_axis_styles(Svg& svg);

/// Ticks across lanes that have been placed, and their times below; nothing where no time passes.
/// `width` is that of the duration.
void add_time_axis(Svg& svg, const Lanes& lanes, Seconds duration, double width);

} // namespace sextant::report
