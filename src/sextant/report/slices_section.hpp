// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/page.hpp"
#include "sextant/report/registration_sections.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace sextant::report {

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
/// beside each other, or one below the other on a phone. Lines show where the slices cross.
/// Requires  positive lengths, and PNG files (std::logic_error).
Section slices_section(const SlicedVolume& sliced);

} // namespace sextant::report
