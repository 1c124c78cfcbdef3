// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/page.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sextant::report {

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

/// Two pictures of the same area: PNG files of the same size.
struct BeforeAfter {
    std::vector<std::byte> before, after;
    std::string caption;
    std::string title;
};

/// Shows one image over the other with a slider between them; side by side on paper.
/// Throws    std::logic_error if one is not a PNG.
Section before_after_section(const BeforeAfter& pictures);

} // namespace sextant::report
