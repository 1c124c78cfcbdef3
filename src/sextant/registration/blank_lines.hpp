// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"

#include <span>
#include <vector>

namespace sextant::registration {

/// Adjacent rows or columns of a frame.
struct LineBand {
    bool columns = false;
    Elements first = 0, last = 0; ///< without `last`
    double activity = 0; ///< mean square of the differences of adjacent samples of its blank lines

    Elements count() const { return last - first; }
};

/// The blank lines of a frame, and the activity of its dimmest rows and columns: the quantile .02
/// of the mean squares of differences.
struct BlankLines {
    std::vector<LineBand> bands;
    double dimmest_rows = 0, dimmest_columns = 0;
};

/// Finds rows and columns without signal, as in a frame during which the beam was blanked or part
/// of which was not transferred. The edge of such an area would otherwise be the strongest feature
/// of the frame.
///
/// A line is blank if the mean square of the differences of its adjacent samples is less than a
/// twentieth of what is usual in the frame. At least eight adjacent lines, and one in 32, must be
/// blank, and the others must have at least a fifth of what is usual, except for up to one in 50:
/// in frames without so sharp an edge, dark lines show the specimen.
///
/// Lines beside a bright specimen in a dark field are found too. CorrectedFrames rejects them,
/// because the dimmest lines of the other frames have no more noise.
///
/// Input     a frame; samples that are not finite are ignored.
/// Output    bands in order of position, rows first. None if more than seven eighths of the lines
///           are blank.
/// Cost      one or two hundred differences per line.
/// Deterministic
BlankLines find_blank_lines(std::span<const float> samples, ImageShape shape);

/// Returns the number of samples that the bands cover.
Elements samples_in(std::span<const LineBand> bands, ImageShape shape);

} // namespace sextant::registration
