// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/edge/edge_code.hpp"
#include "sextant/kernel/label/directions.hpp"

#include <cstdint>

namespace sextant::kernel {

/// [i][heading]: the four directions ahead of an edge point, from the nearest to the direction of
/// the edge on, by the upper bits of its code. The edge goes at right angles to the middle of the
/// sixteenth of a turn that the gradient points in.
struct EdgeFollowers {
    alignas(16) std::uint8_t ahead[4][16] = {};
    constexpr EdgeFollowers() {
        for (unsigned heading = 0; heading < 16; ++heading) {
            double cosines[8] = {};
            for (int code = 0; code < 8; ++code)
                cosines[code] = cosine(heading << 4, code);
            for (auto& nearest : ahead) {
                int best = 0;
                for (int code = 1; code < 8; ++code)
                    best = cosines[code] > cosines[best] ? code : best;
                nearest[heading] = static_cast<std::uint8_t>(best);
                cosines[best] = -2;
            }
        }
    }

  private:
    static constexpr double cosine(unsigned heading, int code) {
        const bool near = (heading & heading_near) != 0, flat = (heading & heading_flat) != 0;
        const double more = near ? .98078528 : .83146961, less = near ? .19509032 : .55557023;
        const double width = flat ? more : less, height = flat ? less : more;
        const double x = (heading & heading_left) != 0 ? -width : width;
        const double y = (heading & heading_up) != 0 ? -height : height;
        const double along = -y * steps[code].x + x * steps[code].y;
        return code % 2 == 1 ? along * .70710678 : along;
    }
};
inline constexpr EdgeFollowers edge_followers;

} // namespace sextant::kernel
