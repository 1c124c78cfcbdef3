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
    std::vector<Point> points; ///< those that are drawn
    Elements length = 0;       ///< how many points it has in all
    bool closed = false;
};

/// A picture and lines on it.
struct OutlinedPicture {
    std::string title, caption = {};
    std::vector<std::byte> png = {};    ///< of the whole image; may be smaller than it
    Elements width = 0, height = 0;     ///< of the image
    std::vector<Outline> outlines = {}; ///< the longest first
};

/// The picture with its lines, each in a colour of its own, and a table of them. Nothing where
/// there is no picture.
/// Throws    std::logic_error where it is no PNG.
Section outlines_section(const OutlinedPicture& picture);

} // namespace sextant::report
