// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/format/checks.hpp"

#include <optional>
#include <string_view>

#include <tiffio.h>

namespace sextant::format {

/// Statements of an instrument's software about the frames of a TIFF file.
struct InstrumentNotes {
    /// 0 by 0 if unknown, although the description may state one; empty if that one applies.
    std::optional<StatedPixelSize> pixel = {};
    Seconds frame_interval = 0; ///< 0 if unknown
};

/// Reads what these programs write on libtiff's current page; empty if none of them wrote it.
///
/// DigitalMicrograph   units and steps of x, y and frames in the tags 65003 to 65011. Files of
///                     HyperSpy have them as well.
/// FEI, Thermo Fisher  the tag 34682 or 34680: text with "PixelWidth" in the section "[Scan]", or
///                     the width of an infrared camera's field, in m.
/// Zeiss               the tag 34118: text whose fourth line is the size of a pixel in m if the
///                     image has 1024 columns.
/// JEOL                images of transmission microscopes whose maker is "JEOL Ltd.": the
/// resolution
///                     on the camera, with the magnification or, for diffraction, the camera length
///                     from the description.
/// Hamamatsu           images of streak cameras: the description has the unit of each axis, and a
///                     scale or the position of a table of coordinates.
///
/// `description` is the page's description.
std::optional<InstrumentNotes> instrument_notes(TIFF* file, std::string_view description);

} // namespace sextant::format
