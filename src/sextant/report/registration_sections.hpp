// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/page.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::report {

/// A flag of a registered frame, its meaning, and what to try if many frames have it.
struct FrameFlag {
    std::string_view name, meaning, advice;
};
/// Returns all flags.
std::span<const FrameFlag> frame_flags();

/// A row of a page about registration: a registered frame, or one that was left out.
struct RegisteredFrame {
    std::int64_t frame = 0;
    std::string left_out;                             ///< reason; other fields are then unused
    double x = 0, y = 0, angle = 0;                   ///< shift in pixels and angle in degrees
    double sigma_x = 0, sigma_y = 0, sigma_angle = 0; ///< standard deviations of x, y, angle
    double ncc_before = 0, ncc_after = 0;
    double sigma = 0; ///< standard deviation of pixel positions after registration, in pixels
    std::vector<std::string> flags = {};
};

/// Shows the shift of each frame of a series relative to the reference, with standard deviations,
/// and marks the frames that have a flag or were left out.
///
/// Input     the frames of a series in order, numbered from 0; the pixel size if known ("0.2 nm").
Section drift_section(std::span<const RegisteredFrame> frames, std::int64_t reference,
                      const std::string& pixel);

/// Shows the rotation of each frame, and lists the frames that have a flag or were left out, with
/// the reasons.
Section rotation_section(std::span<const RegisteredFrame> frames);

/// Shows, for each frame of a series, the NCC with its reference before and after registration, the
/// unexplained variance, and the uncertainty of its position.
///
/// Input     the frames of a series in order, numbered from 0; the label of the NCC before
///           registration ("as recorded") or, if displacement fields were applied, before applying
///           the fields ("by rigid motions alone").
Section likeness_section(std::span<const RegisteredFrame> frames, const std::string& before);

/// Shows a Fourier ring correlation and a threshold. `values[i]` is the correlation at i cycles per
/// `side` pixels; `text` states the resolution. Empty without values.
Section resolution_section(std::span<const double> values, std::int64_t side, double threshold,
                           const std::string& text);

/// The displacements of the rows of scanned frames.
struct ScannedRows {
    std::vector<double> jitter, drift_x, drift_y; ///< by frame, pixels; NaN if left out
    std::int64_t frame = 0;                       ///< the frame whose rows are shown
    std::vector<double> dx, dy, sigma;            ///< rows of this frame, pixels
};

/// Shows the row jitter and the drift within each frame, and the row displacements of one frame.
/// Empty without frames.
Section rows_section(const ScannedRows& rows);

/// A recorded frame with its picture as a PNG file, which is empty if the frame cannot be read.
struct PicturedFrame {
    RegisteredFrame frame;
    std::vector<std::byte> png;
};

/// Shows frames that are flagged or left out, with their motions, flags and reasons. `others` is
/// the number of such frames that are not shown. Empty without frames.
Section frames_section(std::span<const PicturedFrame> frames, std::int64_t others);

/// A displacement at a point of an image, in pixels.
struct FieldArrow {
    double x = 0, y = 0, dx = 0, dy = 0;
    bool known = true; ///< false if the displacement is extrapolated
};

/// A displacement field.
struct FieldPicture {
    std::int64_t frame = 0;
    double width = 0, height = 0; ///< size of the frame in pixels
    double spacing = 0;           ///< distance between arrows in pixels
    std::vector<FieldArrow> arrows;
};

/// Shows the displacement field of a frame as arrows. Arrows are enlarged by a round factor, such
/// that the longest arrow is at most 1.5 times as long as the distance between arrows.
/// Requires  a positive size and spacing (std::logic_error).
Section field_section(const FieldPicture& field);

} // namespace sextant::report
