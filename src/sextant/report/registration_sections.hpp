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
/// All flags.
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

/// Shows the shift and rotation of each frame of a series relative to the reference, with standard
/// deviations; below, the frames that have a flag or were left out, and why.
///
/// Input     the frames of a series in order, numbered from 0; the pixel size if known ("0.2 nm").
Section drift_section(std::span<const RegisteredFrame> frames, std::int64_t reference,
                      const std::string& pixel);

/// Shows the NCC of each frame of a series with its reference before and after registration, the
/// unexplained variance, and the uncertainty of its position.
///
/// Input     the frames of a series in order, numbered from 0; the label of the NCC before
///           registration ("as recorded") or, if displacement fields were applied, before these
///           ("by rigid motions alone").
Section likeness_section(std::span<const RegisteredFrame> frames, const std::string& before);

/// Shows a Fourier ring correlation: values[i] at i cycles per `side` pixels, and a threshold.
/// `text` states what is resolved. Empty without values.
Section resolution_section(std::span<const double> values, std::int64_t side, double threshold,
                           const std::string& text);

/// The displacements of the rows of scanned frames.
struct ScannedRows {
    std::vector<double> jitter, drift_x, drift_y; ///< of each frame, pixels; NaN if left out
    std::int64_t frame = 0;                       ///< the frame whose rows are shown
    std::vector<double> dx, dy, sigma;            ///< of its rows, pixels
};

/// Shows the jitter of rows and the drift within each frame, and the displacements of the rows of
/// one frame. Empty without frames.
Section rows_section(const ScannedRows& rows);

/// A frame with its picture, as recorded; a PNG file, empty if the frame cannot be read.
struct PicturedFrame {
    RegisteredFrame frame;
    std::vector<std::byte> png;
};

/// Shows frames that are flagged or left out, with their motions, flags and reasons. Empty without
/// frames. `others` is the number of such frames that are not shown.
Section frames_section(std::span<const PicturedFrame> frames, std::int64_t others);

/// A displacement at a point of a picture, in pixels.
struct FieldArrow {
    double x = 0, y = 0, dx = 0, dy = 0;
    bool known = true; ///< false if it is extrapolated
};

/// A displacement field.
struct FieldPicture {
    std::int64_t frame = 0;
    double width = 0, height = 0; ///< of the frame in pixels
    double spacing = 0;           ///< between arrows in pixels
    std::vector<FieldArrow> arrows;
};

/// Shows the displacement field of a frame as arrows, which are enlarged by a round factor so that
/// the longest is about as long as their spacing, at most 1.5 times.
/// Requires  a positive size and spacing (std::logic_error).
Section field_section(const FieldPicture& field);

} // namespace sextant::report
