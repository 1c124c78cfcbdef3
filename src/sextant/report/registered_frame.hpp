// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
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

} // namespace sextant::report
