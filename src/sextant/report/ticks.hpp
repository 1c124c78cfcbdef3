// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace sextant::report {

/// The distance between ticks of an axis: 1, 2 or 5 times a power of ten, for four to ten ticks.
/// Requires  a positive range.
double tick_of(double range);

/// How many digits behind the point tell such ticks apart.
int decimals_of(double tick);

} // namespace sextant::report
