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
    bool boolean = false; ///< true for bools, stored as bytes; all nonzero bytes are true
    std::vector<std::int64_t> shape;
};

/// Parses a header, which is a Python dictionary such as {'descr': '<f4', 'fortran_order': False,
/// 'shape': (3, 5, 7), }. Accepts exactly the headers that NumPy reads as an array of integers,
/// floats or bools, with all of Python's literals, both kinds of quotes and NumPy's type names.
/// `version` is the format version, 1 to 3; in versions 1 and 2, integers may have Python 2's
/// suffix L. Throws InvalidFile with the key.
NpyHeader parse_npy_header(const std::string& path, std::string_view text, int version);

} // namespace sextant::format
