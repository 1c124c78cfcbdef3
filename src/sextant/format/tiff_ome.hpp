// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/format/tiff_notes.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace sextant::format {

/// What OME-XML says of the first image of a file that has so many pages, each with so many samples
/// a pixel. Planes in other files of the same set are no pages of this one.
TiffNotes ome_notes(std::string_view text, const std::string& path, std::int64_t pages,
                    int samples);

} // namespace sextant::format
