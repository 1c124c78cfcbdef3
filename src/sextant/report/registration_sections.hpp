// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/page.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sextant::report {

/// What a page shows of a frame that was registered to a reference, or left out.
struct RegisteredFrame {
    std::int64_t frame = 0;
    std::string left_out;                             ///< why; what follows is then nothing
    double x = 0, y = 0, angle = 0;                   ///< pixels and degrees, from the reference
    double sigma_x = 0, sigma_y = 0, sigma_angle = 0; ///< their standard deviations
    double ncc_before = 0, ncc_after = 0;
    double sigma = 0; ///< of where a pixel lies, by a motion or a field: pixels
    std::vector<std::string> flags = {};
};

/// How far and how much each frame of a series was moved and turned against the reference, with
/// deviations; below, which frames have a flag or were left out, and why.
///
/// Input     the frames of a series in order, numbered from 0; the size of a pixel where it is
///           known ("0.2 nm").
Section drift_section(std::span<const RegisteredFrame> frames, std::int64_t reference,
                      const std::string& pixel);

/// How alike each frame of a series is to what it was registered to, before and after, what of it
/// that leaves unexplained, and how sure its place is.
///
/// Input     the frames of a series in order, numbered from 0; what "before" is: "as they are", or
/// by
///           motions alone where what follows are fields.
Section likeness_section(std::span<const RegisteredFrame> frames, const std::string& before);

/// Two pictures of the same place: PNG files of one size.
struct BeforeAfter {
    std::vector<std::byte> before, after;
    std::string caption;
    std::string title;
};

/// One picture over the other, with a slider between them; beside each other on paper.
/// Throws    std::logic_error where one is no PNG.
Section before_after_section(const BeforeAfter& pictures);

} // namespace sextant::report
