// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/machine/profile.hpp"

#include <optional>
#include <span>

namespace sextant::machine {

/// A time interpolated between measured points, with its interval, in seconds.
struct Estimate {
    double median = 0, low = 0, high = 0;
    bool extrapolated = false; ///< size or block length outside the measured range
};

/// Interpolates by message size: linearly between the measured sizes, and by extrapolating the
/// outermost segment outside of them, but never below zero. If several points have the same size,
/// the first is used.
///
/// Requires  at least one point, ordered by size (std::invalid_argument).
Estimate at_size(std::span<const Point> points, Bytes bytes);

/// Interpolates by size and block length: by size within each measured block length, then linearly
/// in the logarithm of the block length. Outside the measured block lengths, uses the nearest one
/// and flags the result as extrapolated. Points with zero bytes apply to every block length. If no
/// block length was measured at two sizes (for instance because the number of blocks was fixed),
/// interpolates by size alone and flags the result as extrapolated if `block` differs by more than
/// a factor of two from the block length of the point nearest in size.
///
/// Requires  as at_size.
Estimate at_size_and_block(std::span<const Point> points, Bytes bytes, Bytes block);

/// Returns the time of one pass over `operands` operands of `elements` elements each. Interpolates
/// linearly in elements and in operands. Beyond the largest measured number of operands,
/// extrapolates from the two largest; if only one number was measured, the time is proportional to
/// operands − 1. Results for sizes and counts outside the measured range are flagged as
/// extrapolated.
///
/// Requires  at least one pass, ordered by elements; operands >= 1.
Estimate at_pass(std::span<const Pass> passes, Elements elements, int operands);

/// The line T(n) = constant + n · slope.
struct Line {
    double constant = 0, slope = 0;
};

/// Fits a line through the cost of the smallest message, with the slope that minimises the squared
/// relative errors. For models whose costs are linear.
///
/// Requires  as at_size.
Line fitted_line(std::span<const Point> points);

/// Predicts the time to read and write files on a machine. Covers only access to files in the page
/// cache, neither decoding nor waiting for a disk.
class FileCosts {
  public:
    /// Keeps a reference to `machine`, which must outlive this object.
    explicit FileCosts(const Profile& machine);

    /// The time for one rank to read or write `bytes`; empty if the profile lacks the measurement.
    /// `alone`: true if the other ranks of the node are idle.
    std::optional<Seconds> reading(Bytes bytes, bool alone) const;
    std::optional<Seconds> writing(Bytes bytes, bool alone) const;

  private:
    const Work* const read_;
    const Work* const write_;
};

} // namespace sextant::machine
