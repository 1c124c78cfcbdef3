// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <vector>

namespace sextant::filtering {

/// An image at rank 0, filtered again and again.
struct Task {
    Elements width = 0, height = 0;
    /// Of each filter, one after another on what the one before made: how many pixels it needs
    /// around each.
    std::vector<Elements> margins = {0};
    int outputs = 1;     ///< images that the last filter makes
    bool collect = true; ///< all of them at rank 0; otherwise ranks keep their tiles
};

} // namespace sextant::filtering
