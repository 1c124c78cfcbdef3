// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/format/checks.hpp"

#include <optional>
#include <string_view>

#include <tiffio.h>

namespace sextant::format {

/// Metadata that an instrument's software states about the frames of a TIFF file.
struct InstrumentNotes {
    /// 0 by 0 if the pixel size is unknown, even if the description states one; empty if the
    /// description applies.
    std::optional<StatedPixelSize> pixel = {};
    Seconds frame_interval = 0; ///< 0 if unknown
};

/// Reads the metadata that these programs write on libtiff's current page; empty if none of them
/// wrote the page.
///
/// DigitalMicrograph   units and steps of x, y and frames in the tags 65003 to 65011. HyperSpy
///                     writes these tags, too.
/// FEI, Thermo Fisher  the tag 34682 or 34680: text with "PixelWidth" in the section "[Scan]", or
///                     the field width of an infrared camera, in m.
/// Zeiss               the tag 34118: text whose fourth line is the pixel size in m for an image of
///                     1024 columns.
/// JEOL                images of transmission microscopes made by "JEOL Ltd.": the resolution on
///                     the camera, with the magnification or, for diffraction, the camera length
///                     from the description.
/// Hamamatsu           images of streak cameras: the description has a unit per axis, and a scale
///                     or the position of a table of coordinates.
///
/// `description` is the description of the page.
std::optional<InstrumentNotes> instrument_notes(TIFF* file, std::string_view description);

} // namespace sextant::format
