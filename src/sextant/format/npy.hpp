// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/sample.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::format {

/// The header of an NPY file.
struct NpyHeader {
    Sample sample = Sample::u8;
    bool big_endian = false;
    bool fortran = false; ///< true if the first axis varies fastest
    bool boolean = false; ///< true for bools, stored as bytes; any nonzero byte is true
    std::vector<std::int64_t> shape;
};

/// Parses a header, a Python dictionary such as {'descr': '<f4', 'fortran_order': False, 'shape':
/// (3, 5, 7), }. Accepts every header that NumPy reads as an array of integers, floats or bools,
/// with Python's literals, either kind of quotes and NumPy's names of types; rejects every header
/// that NumPy rejects. `version` is the version of the format, 1 to 3; in versions 1 and 2,
/// integers may have the suffix L of Python 2. Throws InvalidFile with the key.
NpyHeader parse_npy_header(const std::string& path, std::string_view text, int version);

} // namespace sextant::format
