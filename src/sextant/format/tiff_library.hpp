// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include <tiffio.h>

namespace sextant::format {

/// What the library reads through: positions are counted here, since it seeks.
struct TiffBytes {
    std::string path;
    Bytes size = 0; ///< of the file, as far as it is there
    Bytes position = 0;
    /// May throw; what it throws is kept, since it must not pass through C.
    std::function<Bytes(Bytes position, std::span<std::byte> to)> read;

    std::string complaint = {};     ///< the library's first since it was emptied
    std::exception_ptr thrown = {}; ///< by `read`
};

struct CloseTiff {
    void operator()(TIFF* file) const { TIFFClose(file); }
};
using Tiff = std::unique_ptr<TIFF, CloseTiff>;

/// Opens by the library's mode for reading ("r", "rm"), with its warnings unsaid. `bytes` must
/// outlive the result. Throws InvalidFile.
Tiff open_tiff_library(TiffBytes& bytes, const char* mode);

/// Throws what reading threw, or InvalidFile with `what` and the library's complaint.
[[noreturn]] void fail_tiff(TiffBytes& bytes, const std::string& what);

} // namespace sextant::format
