// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/frame_source.hpp"

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::format {

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

} // namespace sextant::format
