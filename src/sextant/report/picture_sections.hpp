// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/report/page.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace sextant::report {

/// A length in a picture, as a fraction of the picture's width.
struct ScaleBar {
    std::string text; ///< "20 nm"; empty for no scale bar
    double fraction = 0;
};

/// Returns a scale bar of 1, 2 or 5 times a power of ten, of about a fifth of the picture: in the
/// unit of the pixel size, or in pixels if the size is 0.
ScaleBar scale_bar(double pixels, double pixel_size, const std::string& unit);

/// Two pictures of the same area: PNG files of the same size.
struct BeforeAfter {
    std::vector<std::byte> before, after;
    std::string caption;
    std::string title;
    ScaleBar scale = {};
};

/// Shows one image over the other with a slider between them; side by side on paper.
/// Throws    std::logic_error if one is not a PNG.
Section before_after_section(const BeforeAfter& pictures);

/// Shows both images next to each other, or one below the other on a phone.
/// Throws    std::logic_error if one is not a PNG.
Section side_by_side_section(const BeforeAfter& pictures);

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

/// Three slices of a volume through one point, as PNG files: rows by columns.
struct SlicePictures {
    std::string name; ///< such as "labels"
    std::vector<std::byte> xy, xz, zy;
};

/// Slices of volumes of one shape. Axes are (z, y, x).
struct SlicedVolume {
    std::string title, caption;
    std::vector<SlicePictures> volumes = {};
    std::array<double, 3> lengths{};           ///< of the volume's sides, in one unit
    std::array<double, 3> through{};           ///< the point, as fractions of the sides
    std::array<std::string, 3> positions = {}; ///< the point in words: "z = 17"
    std::string unit = {};                     ///< of the lengths
};

/// Draws the slices of each volume to scale, with xz below and zy to the right of xy; volumes are
/// side by side, or one below the other on a phone. Lines show where the slices cross.
/// Requires  positive lengths, and PNG files (std::logic_error).
Section slices_section(const SlicedVolume& sliced);

} // namespace sextant::report
