// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/core/image.hpp"
#include "sextant/format/format.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::format {

/// The largest number of pixels for which a reader allocates memory: 256 GiB at 16 bytes per pixel.
inline constexpr Elements maximum_pixels = Elements{1} << 34;

/// The highest compression ratio that deflate can reach.
inline constexpr Bytes deflate_ratio = 1032;

/// Chunks up to this size are decoded as a whole, whatever their compression ratio.
inline constexpr Bytes modest_chunk = Bytes{1} << 28;

/// Images of up to this many pixels (8192×8192) may be nearly empty, so their files may be
/// arbitrarily small.
inline constexpr Elements believable_image = Elements{1} << 26;

/// Returns the shape that a file states. Throws InvalidFile unless both sides are positive and
/// their product is at most maximum_pixels.
ImageShape checked_shape(const std::string& path, std::int64_t width, std::int64_t height);

/// Throws InvalidFile if `stored` bytes of pixels cannot come from a file of `size` bytes at a
/// compression ratio of at most `ratio`. Detects damaged headers before memory is allocated.
void check_plausible(const std::string& path, Bytes stored, Bytes size, Bytes ratio);

/// For images held in memory as a whole: throws InvalidFile if `pixels` exceeds both
/// believable_image and deflate_ratio · `size`, where `size` is the number of bytes of the file.
void check_held(const std::string& path, Elements pixels, Bytes size);

/// Throws InvalidFile if a single row, which is held in memory as a whole, is implausibly large for
/// a file of `size` bytes.
void check_row(const std::string& path, const FrameHeader& frame, Bytes size);

/// Throws InvalidFile unless the header found when the pixels are read equals `expected`, and
/// std::logic_error unless `to` has exactly the size of the pixels.
void check_expected(const std::string& path, const ImageHeader& found, const ImageHeader& expected,
                    std::span<const std::byte> to);

/// Throws InvalidFile unless the image has pixels, no side exceeds `longest_side`, and its element
/// format is rgba_f32, rgba_depth_f32 or, if `halves`, rgba_f16.
void check_writable(const std::string& path, const Image& image, std::int64_t longest_side,
                    bool halves = false);

/// Returns a text such as "512×510".
std::string to_text(const ImageShape& shape);

/// Throws InvalidFile if a frame differs from the first in shape or sample type: "frame 17 is
/// 512×510, expected 512×512".
void check_alike(const std::string& path, std::int64_t frame, const FrameHeader& found,
                 const FrameHeader& expected);

/// Adds a remark if a frame differs from the header; the remark names the first such frame.
void remark_on_others(std::span<const FrameHeader> each, FrameHeader& header);

/// Adds a remark if the frames extend over several axes, because some of these axes may be
/// channels. `lengths` has the lengths of all axes except rows and columns.
void remark_on_axes(std::span<const std::int64_t> lengths, FrameHeader& header);

/// Returns the requested position on an axis such as "channel". If no position is requested,
/// returns 0, and adds a remark if the axis has several positions. Throws InvalidFile if the
/// position does not exist.
std::int64_t chosen_plane(const std::string& path, std::string_view axis,
                          std::optional<std::int64_t> requested, std::int64_t count,
                          FrameHeader& header);

/// Returns a message such as "truncated: 17 of 20 frames are complete".
std::string truncated(std::int64_t whole, std::int64_t stated);

/// Throws InvalidFile unless at least one frame can be read.
void require_frames(const std::string& path, const FrameHeader& header);

/// Returns names except `except`, separated by commas; only the first ones if there are many.
std::string listed(const std::vector<std::string>& names, const std::string& except = "");

/// Converts ASCII letters to lower case.
std::string lower_case(std::string text);

/// Normalises the spelling of a unit for display: "µm" for um, micron or \u00B5m, "Å" for Angstrom
/// and A, "nm" for n_m and [n_m]. Returns "" for none, for pixels and for text that is not
/// printable.
std::string tidy_unit(std::string_view stated);

/// Returns the length of a unit in metres; 0 if the unit is not a length.
double metres_of(std::string_view unit);

/// Returns the factor that converts a size in one unit to another: 1 for the same unit, 0 unless
/// both are lengths, reciprocal lengths (1/nm) or angles (mrad).
double unit_factor(std::string_view from, std::string_view to);

/// Converts a slice distance to the unit of the pixel size; 0 if the stated unit is not a length.
double distance_in_pixel_unit(double distance, std::string_view stated_unit,
                              std::string_view pixel_unit);

/// Converts a frame interval to seconds; 0 if the interval is not a positive time.
Seconds believable_interval(double stated, std::string_view unit);

/// Returns the stated pixel size if it is plausible. Otherwise adds a remark and returns an unknown
/// size.
PixelSize believable(PixelSize stated, std::vector<std::string>& remarks);

/// A pixel size in a file that states a unit for each axis. Units are spelled as in the file; "" if
/// unknown.
struct StatedPixelSize {
    double x = 0, y = 0;
    std::string x_unit = {}, y_unit = {};
};

/// Returns the pixel size in the unit of x if it is plausible. Adds a remark and returns an unknown
/// size if y cannot be converted to this unit, or if only one axis has a unit.
PixelSize believable(const StatedPixelSize& stated, std::vector<std::string>& remarks);

/// Returns the slice distance, stated in the unit of the pixel size. Returns 0 if the distance is
/// implausible or the pixel size is unknown.
double believable_distance(double stated, const PixelSize& pixel);

/// The numbers of pixels that cannot be composited correctly. Both numbers may include the same
/// pixel.
struct PixelCheck {
    Elements not_a_number = 0;      ///< a channel, including depth, is NaN
    Elements not_premultiplied = 0; ///< a channel is negative or exceeds alpha, or alpha exceeds 1
    bool good() const { return not_a_number == 0 && not_premultiplied == 0; }
    bool operator==(const PixelCheck&) const = default;
};

/// The tolerated excess of a colour over alpha. Renderers that blend in 8 bits round colour and
/// alpha.
inline constexpr float premultiplied_tolerance = 1.0F / 255;

/// Counts pixels that are not premultiplied RGBA. The count is only a hint, because pixels that
/// emit light may legitimately have a colour larger than alpha.
///
/// Input     pixels as a reader returns them; an image of rgba_f32 or rgba_depth_f32
///           (std::logic_error otherwise).
/// Cost      one pass over the pixels.
PixelCheck check_pixels(std::span<const RgbaF32> pixels);
PixelCheck check_pixels(std::span<const RgbaDepthF32> pixels);
PixelCheck check_pixels(const Image& image);

} // namespace sextant::format
