// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/operator.hpp"

#include <cstddef>
#include <span>

namespace sextant::kernel {

/// Lifts an operator to values that may start a segment. Nothing is combined across the start of a
/// segment, so a scan scans each segment separately. Associative if the operator is.
///
/// Input     an operator on values.
/// Output    an operator on slots of `segmented_size(op)` bytes: a value, then a flag that is set
///           if it starts a segment.
/// Source    Blelloch, Vector Models for Data-Parallel Computing, MIT Press 1990
Operator segmented(Operator op);

Bytes segmented_size(const Operator& op);

/// Writes a value and its flag to a slot.
void put_segmented(std::span<const std::byte> value, bool starts, std::span<std::byte> slot);
/// True if the value of a slot, after any combining, includes the start of a segment.
bool starts_segment(const Operator& op, std::span<const std::byte> slot);

} // namespace sextant::kernel
