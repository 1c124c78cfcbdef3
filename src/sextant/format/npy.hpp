// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/row_source.hpp"

#include <memory>
#include <string>

namespace sextant::format {

/// A NumPy file of one gray image: two dimensions, rows first, of uint8, uint16 or float32, little
/// endian. Throws InvalidFile for any other, naming what was found, and for a file of another size
/// than its header says.
/// Source    the NPY format, versions 1.0 to 3.0
std::unique_ptr<RowSource> open_npy(const std::string& path);

/// A NumPy file of float32: planes × rows × columns, or rows × columns where there is one plane. It
/// appears when it is whole. Throws InvalidFile.
std::unique_ptr<RowSink> create_npy(const std::string& path, int planes, ImageShape shape);

} // namespace sextant::format
