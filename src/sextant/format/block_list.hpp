// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace sextant::format {

/// A file that holds a block of an image or volume, and the position of its first voxel.
struct BlockFile {
    std::string file;                       ///< as open_frames() takes it
    std::array<std::int64_t, 3> position{}; ///< z, y, x
};

/// A list of blocks.
struct BlockList {
    std::vector<BlockFile> blocks; ///< in the order of the file
    bool of_images = false;        ///< the list has no column z
};

/// True if a path names a list of blocks (extension ".csv").
bool is_block_list(const std::string& path);

/// Reads a list of blocks: a CSV file with the columns file, z, y, x, or for images file, y, x, in
/// any order, named in the first line. Names of files are relative to the folder of the list.
/// Throws InvalidFile with the line, its content and what was expected.
BlockList read_block_list(const std::string& path);

} // namespace sextant::format
