// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace sextant::format {

/// A file with a block of an image or volume, and the position of the block's first voxel.
struct BlockFile {
    std::string file;                       ///< a name that open_frames() accepts
    std::array<std::int64_t, 3> position{}; ///< z, y, x
};

/// A list of blocks.
struct BlockList {
    std::vector<BlockFile> blocks; ///< in the order of the list
    bool of_images = false;        ///< true if the list has no column z
};

/// True if a path names a block list (extension ".csv").
bool is_block_list(const std::string& path);

/// Reads a block list: a CSV file whose first line names the columns file, z, y and x (volumes) or
/// file, y and x (images), in any order. File names are relative to the folder of the list.
///
/// Throws    InvalidFile with the line, its content and what was expected.
BlockList read_block_list(const std::string& path);

} // namespace sextant::format
