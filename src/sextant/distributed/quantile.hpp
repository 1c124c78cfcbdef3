// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"

#include <span>

namespace sextant {

/// The value at ⌊share · (n − 1)⌋ of the n values of all ranks in order: exact, found by four
/// counts of bytes. What is not a number is left out; 0 where nothing is left.
///
/// Input     this rank's values, 0 or more.
/// Requires  a share from 0 to 1.
/// Collective.
/// Deterministic  the same however the values are dealt.
float quantile(const Communicator& communicator, std::span<const float> values, double share);

} // namespace sextant
