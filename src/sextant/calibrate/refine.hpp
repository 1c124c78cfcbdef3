// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/machine/profile.hpp"

#include <span>
#include <vector>

namespace sextant::calibrate {

/// Sizes to measure next so that lines between points do not err: both sides of every point from
/// which the line between its neighbours is off by more than max(5 %, 3 half intervals), halved
/// again until neighbours are within 5 % or 16 bytes of each other.
///
/// Input     points of one curve by size, each size once.
/// Output    new sizes, multiples of `unit`, by size.
std::vector<Bytes> sizes_wanted(std::span<const machine::Point> points, Bytes unit = 1);

/// The sizes above which the protocol changes: the lower of two points that lie as close as
/// refinement goes, between which the time jumps by more than max(10 %, 3 half intervals).
std::vector<Bytes> switches_in(std::span<const machine::Point> points);

} // namespace sextant::calibrate
