// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"
#include "sextant/core/record.hpp"
#include "sextant/registration/correct/corrected_frames.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

// Bidirectional scans: a beam that moves to the right in even rows and to the left in odd rows, as
// in resonant scanners, displaces the content of all odd rows by the same distance.
namespace sextant::registration {

/// Correction of bidirectional scans: off, by a given displacement, or by one that is estimated
/// from the frames.
struct Bidirectional {
    bool enabled = true;
    /// Displacement of the content of odd rows to the right, pixels; default: estimated.
    std::optional<double> shift = {};
};

/// Returns the codec of the option, whose text is "auto", "off" or a number.
Codec codec_of(Bidirectional& option);

/// The displacement of the content of odd rows to the right of even rows, pixels.
struct RowShift {
    double shift = 0;
    double sigma = 0; ///< standard deviation; 0 if the displacement was given
};

/// Measures the displacement of the odd rows of frames.
///
/// Each odd row is correlated with the sum of the two rows next to it, after the local mean has
/// been subtracted. For rows without displacement, the expected correlation is the same for
/// opposite shifts. A displacement is significant if the correlation at its peak exceeds that at
/// the opposite shift by six standard deviations, and the displacement is at least .1 pixels and
/// five of its standard deviations. Standard deviations are estimated from up to 64 groups of rows.
/// If several peaks are similarly high, as in a lattice, the one nearest to 0 is used.
///
/// Cost      O(rows · width · shifts) per frame: at most 64 rows and 57 shifts.
/// Deterministic
class RowShiftMeter {
  public:
    explicit RowShiftMeter(ImageShape shape);

    void add(std::span<const float> frame);
    /// The sums of all added frames, for add_sums() of another object of the same shape.
    std::span<const double> sums() const { return sums_; }
    void add_sums(std::span<const double> sums);
    /// Returns the displacement; nothing if it is not significant.
    std::optional<RowShift> displacement() const;

  private:
    void without_local_mean(std::span<const float> row, std::span<float> to);

    ImageShape shape_;
    Elements reach_;
    std::size_t groups_;       ///< number of groups of rows
    std::vector<double> sums_; ///< of each group, correlations at shifts from −reach_ to reach_
    std::vector<float> odd_, above_, below_;
    std::vector<double> totals_, counts_; ///< of the samples before each column
};

/// Moves the content of odd rows to the left by a displacement. Samples are interpolated with the
/// six samples around a position, or linearly next to gaps and edges; samples whose position is
/// outside the row become gaps. A displacement of 0 changes nothing.
RowChange with_aligned_rows(double shift, Elements width);

} // namespace sextant::registration
