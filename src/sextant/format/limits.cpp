// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/limits.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant::format {

ImageShape checked_shape(const std::string& path, std::int64_t width, std::int64_t height) {
    // Division, since the product may overflow.
    if (width < 1 || height < 1 || width > maximum_pixels / height) {
        throw InvalidFile(path,
                          fmt::format("is {}×{}, expected positive sides and at most {} pixels",
                                      width, height, maximum_pixels));
    }
    return {width, height};
}

void check_plausible(const std::string& path, Bytes stored, Bytes size, Bytes ratio) {
    if (stored / ratio > size) {
        throw InvalidFile(path,
                          fmt::format("has {} bytes, too few for the {} bytes of pixels that its "
                                      "header claims: damaged or truncated",
                                      size, stored));
    }
}

void check_held(const std::string& path, Elements pixels, Bytes size) {
    if (pixels > std::max(believable_image, deflate_ratio * size)) {
        throw InvalidFile(path, fmt::format("has {} pixels in {} bytes, expected at most {} pixels "
                                            "in so small a file",
                                            pixels, size,
                                            std::max(believable_image, deflate_ratio * size)));
    }
}

void check_row(const std::string& path, const FrameHeader& frame, Bytes size) {
    constexpr Bytes believable_row = Bytes{1} << 26, believable_ratio = 64;
    const Bytes row = frame.shape.width * frame.channels * size_of(frame.sample);
    if (row > believable_row)
        check_plausible(path, row, size, believable_ratio);
}

void check_expected(const std::string& path, const ImageHeader& found, const ImageHeader& expected,
                    std::span<const std::byte> to) {
    if (found.shape != expected.shape || found.element != expected.element) {
        throw InvalidFile(path,
                          fmt::format("is {}×{} {}, expected {}×{} {}", found.shape.width,
                                      found.shape.height, found.element.name, expected.shape.width,
                                      expected.shape.height, expected.element.name));
    }
    if (static_cast<Bytes>(to.size()) != found.shape.elements() * found.element.size) {
        throw std::logic_error("pixels read into memory of another size");
    }
}

void check_writable(const std::string& path, const Image& image, std::int64_t longest_side,
                    bool halves) {
    const ImageShape shape = image.shape();
    if (std::min(shape.width, shape.height) < 1 ||
        std::max(shape.width, shape.height) > longest_side) {
        throw InvalidFile(path, fmt::format("cannot hold {}×{} pixels, expected sides from 1 to {}",
                                            shape.width, shape.height, longest_side));
    }
    const bool held = image.element() == rgba_f32 || image.element() == rgba_depth_f32 ||
                      (halves && image.element() == rgba_f16);
    if (!held) {
        throw InvalidFile(path,
                          fmt::format("cannot hold pixels of {}, expected {} or {}",
                                      image.element().name, rgba_f32.name, rgba_depth_f32.name));
    }
}

} // namespace sextant::format
