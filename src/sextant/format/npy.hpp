// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/sample.hpp"

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
    bool boolean = false; ///< true for bytes of which any but 0 is true
    std::vector<std::int64_t> shape;
};

/// Parses a header, a Python dictionary such as {'descr': '<f4', 'fortran_order': False, 'shape':
/// (3, 5, 7), }. Accepts what NumPy reads as an array of integers, floats or bools, with Python's
/// literals, either kind of quotes and NumPy's names of types; rejects what NumPy rejects.
/// `version` is the format's, 1 to 3; up to 2 a number may end in Python 2's L. Throws InvalidFile
/// with the key.
NpyHeader parse_npy_header(const std::string& path, std::string_view text, int version);

} // namespace sextant::format
