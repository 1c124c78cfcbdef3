// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sextant::report {

struct PngSize {
    std::uint32_t width, height;
};

/// Read off the header of a PNG file, so that a page keeps its shape while pictures are decoded.
/// Throws    std::logic_error for other bytes.
PngSize png_size(std::span<const std::byte> png);

} // namespace sextant::report
