// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/frame_source.hpp"
#include "sextant/core/image.hpp"
#include "sextant/format/catalogue.hpp"

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

/// "512×510".
std::string to_text(const ImageShape& shape);

/// Throws InvalidFile for a frame of another shape, or else of another kind of samples, than the
/// first: "frame 17 is 512×510, expected 512×512".
void check_alike(const std::string& path, std::int64_t frame, const FrameHeader& found,
                 const FrameHeader& expected);

/// A remark on the first of the header's frames that is not like it, if there is one.
void remark_on_others(std::span<const FrameHeader> each, FrameHeader& header);

/// A remark where frames lie on several axes, which may be channels; the lengths are those of all
/// axes but rows and columns.
void remark_on_axes(std::span<const std::int64_t> lengths, FrameHeader& header);

/// "truncated: 17 of 20 frames whole".
std::string truncated(std::int64_t whole, std::int64_t stated);

/// Throws InvalidFile unless there is a frame that can be read.
void require_frames(const std::string& path, const FrameHeader& header);

/// Throws InvalidFile unless there are frames with pixels, of one of the samples that a format
/// holds.
void check_sink(const std::string& path, const FrameHeader& header,
                std::initializer_list<Sample> held);

/// Throws InvalidFile where something stands behind "::" that a format has no use for.
void refuse_detail(const std::string& path, const std::string& detail);

/// A unit as it is shown: "µm" for what files call um, micron or \u00B5m, "Å" for Angstrom and A,
/// "nm" for n_m and [n_m], and "" for none, for pixels and for what is no text.
std::string tidy_unit(std::string_view stated);

/// How many metres a unit of length is; 0 for anything else.
double metres_of(std::string_view unit);

/// A frame interval of a unit of time; 0 where it makes no sense.
Seconds believable_interval(double stated, std::string_view unit);

/// A pixel size where it makes sense, and otherwise one that is not known, with a remark.
PixelSize believable(PixelSize stated, std::vector<std::string>& remarks);

/// How many pixels would spoil a composite. A pixel may be counted in both.
struct PixelCheck {
    Elements not_a_number = 0;      ///< a channel, the depth included, is NaN
    Elements not_premultiplied = 0; ///< a channel is negative or exceeds opacity, or opacity one
    bool good() const { return not_a_number == 0 && not_premultiplied == 0; }
    bool operator==(const PixelCheck&) const = default;
};

/// What a colour may exceed its opacity by: renderers that blend in 8 bits round each by half a
/// step of 1/255.
inline constexpr float premultiplied_tolerance = 1.0F / 255;

/// Looks for pixels that are not premultiplied RGBA. A hint, not a verdict: light that is emitted
/// without covering anything rightly exceeds its opacity.
///
/// Input     pixels as a reader left them; for an image, of either element format (std::logic_error
///           otherwise).
/// Cost      one pass over the pixels.
PixelCheck check_pixels(std::span<const RgbaF32> pixels);
PixelCheck check_pixels(std::span<const RgbaDepthF32> pixels);
PixelCheck check_pixels(const Image& image);

} // namespace sextant::format
