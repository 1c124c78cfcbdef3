// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/report/page.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace sextant::report {

/// A scale bar for a picture; its length is a fraction of the picture's width.
struct ScaleBar {
    std::string text; ///< "20 nm"; empty: no scale bar
    double fraction = 0;
};

/// Returns a scale bar whose length is 1, 2 or 5 times a power of ten and about a fifth of the
/// picture. The length is in the unit of the pixel size, or in pixels if the pixel size is 0.
ScaleBar scale_bar(double pixels, double pixel_size, const std::string& unit);

/// Two pictures of the same area: PNG files of the same size.
struct BeforeAfter {
    std::vector<std::byte> before, after;
    std::string caption;
    std::string title;
    ScaleBar scale = {};
};

/// Shows one image on top of the other with a slider between them; on paper, side by side.
/// Throws    std::logic_error if one of them is not a PNG file.
Section before_after_section(const BeforeAfter& pictures);

/// Shows both images side by side; on a phone, one below the other.
/// Throws    std::logic_error if one of them is not a PNG file.
Section side_by_side_section(const BeforeAfter& pictures);

/// A picture: a PNG file, with a name of one word.
struct NamedPicture {
    std::string title, name, caption;
    std::vector<std::byte> png;
};

/// Throws    std::logic_error if it is not a PNG file.
Section picture_section(const NamedPicture& picture);

/// A polyline through pixel centres of an image.
struct Outline {
    struct Point {
        Elements x = 0, y = 0;
    };
    std::vector<Point> points; ///< points to draw
    Elements length = 0;       ///< number of points before thinning
    bool closed = false;
};

/// An image with lines drawn on it.
struct OutlinedPicture {
    std::string title, caption = {};
    std::vector<std::byte> png = {};    ///< PNG of the whole image, possibly reduced in size
    Elements width = 0, height = 0;     ///< size of the original image
    std::vector<Outline> outlines = {}; ///< longest first
};

/// Returns the image with its lines, each in its own colour, and a table of the lines; empty if
/// there is no image.
/// Throws    std::logic_error if the image is not a PNG file.
Section outlines_section(const OutlinedPicture& picture);

/// Three slices of a volume through one point, as PNG files; xy has rows y and columns x, xz rows z
/// and columns x, zy rows y and columns z.
struct SlicePictures {
    std::string name; ///< such as "labels"
    std::vector<std::byte> xy, xz, zy;
};

/// Slices of volumes of one shape. Axes are (z, y, x).
struct SlicedVolume {
    std::string title, caption;
    std::vector<SlicePictures> volumes = {};
    std::array<double, 3> lengths{}; ///< lengths of the volume's sides, in one unit
    std::array<double, 3> through{}; ///< the common point of the slices, as fractions of the sides
    std::array<std::string, 3> positions = {}; ///< the common point as text: "z = 17"
    std::string unit = {};                     ///< unit of the lengths
};

/// Draws the slices of each volume to scale, with xz below xy and zy to the right of xy. Volumes
/// are side by side; on a phone, one below the other. Lines show where the slices intersect.
/// Requires  positive lengths, and PNG files (std::logic_error).
Section slices_section(const SlicedVolume& sliced);

} // namespace sextant::report
