// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/frame_source.hpp"
#include "sextant/format/catalogue.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace sextant::format {

/// What a reader believes at most before it asks for memory. 2^34 pixels of 16 bytes are 256 GiB.
inline constexpr Elements maximum_pixels = Elements{1} << 34;

/// How many bytes deflate can make of one: no stream does better.
inline constexpr Bytes deflate_ratio = 1032;

/// An image of up to 8192×8192 pixels may be all but empty, so that a small file holds it.
inline constexpr Elements believable_image = Elements{1} << 26;

/// The shape a file claims. Throws InvalidFile unless both sides are positive and their product is
/// at most maximum_pixels.
ImageShape checked_shape(const std::string& path, std::int64_t width, std::int64_t height);

/// Throws InvalidFile where `stored` bytes cannot come out of a file of `size` bytes because its
/// compression never saves more than a factor of `ratio`: a damaged header is found this way before
/// memory is taken for it.
void check_plausible(const std::string& path, Bytes stored, Bytes size, Bytes ratio);

/// Throws InvalidFile where an image that is held whole is too large for a file of `size` bytes:
/// beyond believable_image, a byte of the file is worth deflate_ratio pixels at most.
void check_held(const std::string& path, Elements pixels, Bytes size);

/// Throws InvalidFile where a single row is too large for a file of `size` bytes, however well it
/// is compressed: rows are held whole.
void check_row(const std::string& path, const FrameHeader& frame, Bytes size);

/// Throws InvalidFile unless a file that was opened to read its pixels still holds what `expected`
/// says, and std::logic_error unless `to` has room for exactly that.
void check_expected(const std::string& path, const ImageHeader& found, const ImageHeader& expected,
                    std::span<const std::byte> to);

/// Throws InvalidFile unless the image has pixels, each side at most `longest_side`, and is of one
/// of the two element formats that all image files hold, or else of rgba_f16 where `halves`.
void check_writable(const std::string& path, const Image& image, std::int64_t longest_side,
                    bool halves = false);

} // namespace sextant::format
