// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/operator.hpp"

#include <cstddef>
#include <span>

namespace sextant::kernel {

/// An operator lifted to values that may start a segment: nothing is combined across a start, so
/// that a scan with it scans each segment on its own. Associative where the operator is.
///
/// Input     an operator on values.
/// Output    one on slots of `segmented_size(op)` bytes: a value, then whether it starts a segment.
/// Source    Blelloch, Vector Models for Data-Parallel Computing, MIT Press 1990
Operator segmented(Operator op);

Bytes segmented_size(const Operator& op);

/// A value with its flag, into a slot.
void put_segmented(std::span<const std::byte> value, bool starts, std::span<std::byte> slot);
/// Whether a segment starts in what is combined in a slot of an operator's.
bool starts_segment(const Operator& op, std::span<const std::byte> slot);

} // namespace sextant::kernel
