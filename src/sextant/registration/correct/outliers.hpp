// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"
#include "sextant/core/record.hpp"
#include "sextant/core/units.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sextant::registration {

/// Options for replacing outliers, such as cosmic rays, with gaps.
struct Despike {
    bool enabled = true;
    /// Threshold in standard deviations of a frame's samples; default: automatic_threshold.
    std::optional<double> sigma = {};

    /// Throws InvalidTask if the threshold is outside its range.
    void check() const;
    /// The chosen threshold, or automatic_threshold.
    double threshold() const;
};

/// The default threshold. Noise does not exceed this threshold, and an outlier below it contributes
/// less than a thousandth of a registration's sums, even in small frames.
inline constexpr double automatic_threshold = 8;

/// The range of Despike::sigma. Noise alone exceeds lower thresholds.
inline constexpr double least_threshold = 4, most_threshold = 1000;

/// Returns the codec of an option whose text is "auto", "off" or a number from `least` to `most`.
Codec codec_of_automatic(bool& enabled, std::optional<double>& value, double least, double most);
/// Returns the codec of the option.
Codec codec_of(Despike& despike);

/// The result of find_outliers().
struct Outliers {
    std::vector<Elements> pixels;
    Elements finite = 0; ///< number of finite samples
    double mean = 0;     ///< mean of the finite samples, excluding samples far from the others
};

/// Finds samples that differ from their neighbours too sharply to be part of an optical image: hot
/// and dead pixels, cosmic rays and their streaks.
///
/// A sample is a candidate if it differs from the mean by more than `threshold` standard deviations
/// (at the default threshold, plus five electrons), and is far beyond the tail of the frame's
/// distribution. A connected group of candidates is an outlier if its extreme sample is at least
/// six times as far from the local level as the sample's neighbours, and the part of the group
/// within this factor is at most two pixels thick. Detail of σ = .8 pixels or more, step edges,
/// saturated areas and counts of single electrons are therefore not outliers, however bright they
/// are. Samples adjacent to outliers are included if they exceed half the threshold.
///
/// Input     a frame; samples that are not finite are ignored. The threshold is positive.
/// Output    pixels in order of their indices. Empty if more than one in 500 samples is a
///           candidate, because the candidates are then detail.
/// Cost      one pass over a frame without outliers, up to six with outliers.
/// Deterministic
/// Source    the test of sharpness follows van Dokkum, PASP 113, 2001, doi:10.1086/323894
Outliers find_outliers(std::span<const float> samples, ImageShape shape,
                       double threshold = automatic_threshold);

/// The outliers of a frame.
struct OutlierSummary {
    std::int64_t count = 0;
    double value = 0;          ///< sample farthest from the frame's mean
    std::int64_t x = 0, y = 0; ///< position of this sample
};

/// Returns "a hot pixel of 3012 at (251, 90)" or "14 outliers, the largest 3012 at (251, 90)"; ""
/// if there are none.
std::string describe(const OutlierSummary& outliers);

/// Adjacent rows or columns of a frame.
struct LineBand {
    bool columns = false;
    Elements first = 0, last = 0; ///< `last` is excluded
    double activity = 0; ///< mean square difference between adjacent samples in its blank lines

    Elements count() const { return last - first; }
};

/// The blank lines of a frame, and the activity of its dimmest rows and columns. Activity is the
/// mean square difference between adjacent samples in a line; the dimmest lines are represented by
/// the quantile .02.
struct BlankLines {
    std::vector<LineBand> bands;
    double dimmest_rows = 0, dimmest_columns = 0;
};

/// Finds rows and columns without signal, for example because the beam was blanked during the frame
/// or part of the frame was not transferred. The edge of such an area would otherwise be the
/// frame's strongest feature.
///
/// A line is blank if its activity is less than a twentieth of the frame's usual activity. At least
/// eight adjacent lines, and at least one in 32, must be blank. The remaining lines must have at
/// least a fifth of the usual activity, except for up to one in 50. In frames without such a sharp
/// edge, dark lines show the specimen.
///
/// Dark lines next to a bright specimen are found too. CorrectedFrames rejects these, because the
/// dimmest lines of the other frames are no noisier.
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
