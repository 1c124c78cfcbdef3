// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/format/source_file.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace sextant::format {

/// A value in the tree of tags of a DM3 or DM4 file.
struct DmTag {
    std::string path;       ///< "ImageList/1/ImageData/Calibrations/Dimension/0/Scale"
    Bytes start = 0;        ///< where its value lies
    Bytes size = 0;         ///< that it takes
    std::int64_t count = 1; ///< elements of an array
    int type = 0;           ///< of each, as the format numbers them; 0 where they are composed
    bool swapped = false;   ///< in the byte order of other machines
};

/// Walks all tags of a file, in its order. Throws InvalidFile where it is no DM3 or DM4 file, ends
/// inside a tag, or where tags make no sense.
void for_each_dm_tag(SourceFile& file, const std::function<void(const DmTag&)>& visit);

/// The value of a tag with one number; 0 where it has none.
double dm_number(SourceFile& file, const DmTag& tag);

/// The text of a tag with an array of 16-bit letters, of which it takes those below 256.
std::string dm_text(SourceFile& file, const DmTag& tag);

} // namespace sextant::format
