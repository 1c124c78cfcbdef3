// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/sample.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::format {

/// What the header of an NPY file states.
struct NpyHeader {
    Sample sample = Sample::u8;
    bool big_endian = false;
    bool fortran = false; ///< whether the first axis runs fastest
    bool boolean = false; ///< bytes, of which any but 0 is true
    std::vector<std::int64_t> shape;
};

/// Reads the text of a header, a Python dictionary such as {'descr': '<f4', 'fortran_order': False,
/// 'shape': (3, 5, 7), }. What NumPy refuses is refused, and what NumPy takes as an array of
/// integers, floats or bools is taken: Python's literals, with either quotes, and NumPy's names of
/// types. `version` is the format's, 1 to 3; up to 2 a number may end in Python 2's L. Throws
/// InvalidFile, which names the key.
NpyHeader parse_npy_header(const std::string& path, std::string_view text, int version);

} // namespace sextant::format
