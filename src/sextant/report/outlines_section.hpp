// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/report/page.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace sextant::report {

/// A line through pixels of an image.
struct Outline {
    struct Point {
        Elements x = 0, y = 0;
    };
    std::vector<Point> points; ///< points to draw
    Elements length = 0;       ///< number of points before thinning
    bool closed = false;
};

/// An image with lines on it.
struct OutlinedPicture {
    std::string title, caption = {};
    std::vector<std::byte> png = {};    ///< PNG of the whole image, possibly reduced in size
    Elements width = 0, height = 0;     ///< of the original image
    std::vector<Outline> outlines = {}; ///< longest first
};

/// Returns the image with its lines, each in its own colour, and a table of the lines; empty if
/// there is no image.
/// Throws    std::logic_error if the image is not a PNG.
Section outlines_section(const OutlinedPicture& picture);

} // namespace sextant::report
