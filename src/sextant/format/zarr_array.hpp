// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/sample.hpp"
#include "sextant/core/units.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::format {

/// The compression of chunks.
enum class ZarrCodec { none, zlib, gzip, zstd, blosc };

/// An array of Zarr version 2, as described by its file `.zarray`. The array is stored in chunks of
/// one shape; those at the ends of axes extend beyond the array.
struct ZarrArray {
    std::vector<std::int64_t> sides, chunk; ///< lengths of the array and of a chunk along the axes
    Sample sample = Sample::u8;
    bool swapped = false; ///< true if samples are in foreign byte order
    bool boolean = false; ///< true if bytes other than 0 are read as 1
    bool fortran = false; ///< true if the first axis varies fastest within a chunk
    char separator = '.'; ///< between the numbers in the name of a chunk
    ZarrCodec codec = ZarrCodec::none;
    std::vector<std::byte> fill = {}; ///< each sample of a missing chunk, in the stored byte order

    Bytes chunk_bytes() const;
    /// The distance between neighbours along each axis within a chunk, in samples.
    std::vector<Elements> chunk_steps() const;
    /// The name of a chunk, such as "0.3.1", given its position along each axis.
    std::string chunk_name(std::span<const std::int64_t> position) const;
};

/// Parses the text of a file `.zarray`. `path` is used in error messages.
///
/// Requires  two or more axes, chunks of at most 2 GiB, integers of 8 to 64 bits, floats of 16 to
///           64 bits or bools, no filters, and a known codec; otherwise throws InvalidFile.
ZarrArray parse_zarr_array(std::string_view text, const std::string& path);

/// Returns the text of a file `.zarray`.
///
/// Requires  C order and no bools (std::logic_error). A missing fill value is 0.
std::string zarr_array_text(const ZarrArray& array);

} // namespace sextant::format
