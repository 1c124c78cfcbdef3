// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/scan/series.hpp"

namespace sextant::scan {

/// Carries the values of a series from where they lie to other ranks, in the same order.
///
/// Input     the values that lie at a rank.
/// Output    those it is to have.
/// Requires  as many values and ranks in both (std::logic_error).
/// Cost      a message between two ranks where one has what the other is to have.
Program redistribution(const Series& from, const Series& to, int rank);

/// What `prove` is to show of it: every value arrives, in its place.
Claim redistribution_claim(const Series& from, const Series& to);

} // namespace sextant::scan
