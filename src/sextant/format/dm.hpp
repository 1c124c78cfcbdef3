// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/format/source_file.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace sextant::format {

/// A tag of a DM3 or DM4 file.
struct DmTag {
    std::string path;       ///< "ImageList/1/ImageData/Calibrations/Dimension/0/Scale"
    Bytes start = 0;        ///< position of the value in the file
    Bytes size = 0;         ///< of the value
    std::int64_t count = 1; ///< number of array elements
    int type = 0;           ///< type number of an element in the format; 0 for structures
    bool swapped = false;   ///< true if in foreign byte order
};

/// Visits all tags of a file in file order. Throws InvalidFile if it is not a DM3 or DM4 file, ends
/// inside a tag, or has invalid tags.
void for_each_dm_tag(SourceFile& file, const std::function<void(const DmTag&)>& visit);

/// Returns the value of a tag with a single number; 0 if it has none.
double dm_number(SourceFile& file, const DmTag& tag);

/// Returns the text of a tag with an array of 16-bit characters; characters above 255 are dropped.
std::string dm_text(SourceFile& file, const DmTag& tag);

} // namespace sextant::format
